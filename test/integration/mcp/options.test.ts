import { afterEach, describe, expect, it } from 'vitest';
import { type McpOptions, serve, serveStdio } from 'orrery/gateway';
import { startSystem, type Team } from 'orrery';

const opened: Team[] = [];
afterEach(async () => {
  for (const system of opened.splice(0)) await system.stop({ drainMs: 0 });
});

async function team(): Promise<Team> {
  const system = await startSystem({ agents: [], workers: 1, spareThread: false });
  opened.push(system);
  return system;
}

const failure = (work: Promise<unknown>): Promise<{ code: string; message: string }> =>
  work.then(
    () => ({ code: 'none', message: 'It was taken' }),
    (error: { code: string; message: string }) => error,
  );

/** What is given for `mcp`, the field that is wrong, and its value as it is said. */
const WRONG: readonly (readonly [given: unknown, field: string, value: string])[] = [
  [{ maxSessions: 0 }, 'mcp.maxSessions', '0'],
  [{ maxSessionsPerCaller: 0.5 }, 'mcp.maxSessionsPerCaller', '0.5'],
  [{ maxSessionsPerCaller: '7' }, 'mcp.maxSessionsPerCaller', '"7"'],
  [{ pageSize: -3 }, 'mcp.pageSize', '-3'],
  [{ searchAbove: 1.5 }, 'mcp.searchAbove', '1.5'],
  [{ sessionIdleMs: 'soon' }, 'mcp.sessionIdleMs', '"soon"'],
  [{ keepAliveMs: 0 }, 'mcp.keepAliveMs', '0'],
  [{ callMs: null }, 'mcp.callMs', 'null'],
  [{ maxSubscriptions: 0 }, 'mcp.maxSubscriptions', '0'],
  [{ names: 'short' }, 'mcp.names', '"short"'],
  [{ tasks: 'sometimes' }, 'mcp.tasks', '"sometimes"'],
  [{ readOnly: 'yes' }, 'mcp.readOnly', '"yes"'],
  [{ visible: true }, 'mcp.visible', 'true'],
  [{ instructions: '' }, 'mcp.instructions', '""'],
  [
    { authorizationServers: ['https://login.example', 'nowhere'] },
    'mcp.authorizationServers[1]',
    '"nowhere"',
  ],
  [{ scopes: { use: ['reader', 7] } }, 'mcp.scopes.use[1]', '7'],
  [{ scopes: { of: 'writer' } }, 'mcp.scopes.of', '"writer"'],
  [{ scopes: { used: [] } }, 'mcp.scopes.used', '[]'],
  [{ maxSession: 7 }, 'mcp.maxSession', '7'],
  [{ pageSize: 5, maxSession: { at: 'most' } }, 'mcp.maxSession', '{"at":"most"}'],
  ['on', 'mcp', '"on"'],
  [true, 'mcp', 'true'],
];

describe('Wrong options of MCP (N-D11)', () => {
  it.each(WRONG)('%j is refused naming %s and its value, where it is served', async (given, field, value) => {
    const { code, message } = await failure(serve(await team(), { mcp: given as McpOptions }));
    expect(code).toBe('INVALID_OPTIONS');
    expect(message.startsWith(`${field} is ${value}, expected `)).toBe(true);
    expect(message).not.toContain('something else');
  });

  it('are refused in the same words over standard input', async () => {
    const { code, message } = await failure(
      serveStdio(await team(), { mcp: { scopes: { use: [''] } } as McpOptions }),
    );
    expect(code).toBe('INVALID_OPTIONS');
    expect(message).toContain('mcp.scopes.use[0]');
  });

  it('do not show what is secret: the key that signs is told to be too short, and not which it was', async () => {
    const { code, message } = await failure(serve(await team(), { mcp: { stateKey: 'hunter2' } }));
    expect(code).toBe('INVALID_OPTIONS');
    expect(message).toContain('mcp.stateKey is a text that is not shown');
    expect(message).not.toContain('hunter2');
  });
});
