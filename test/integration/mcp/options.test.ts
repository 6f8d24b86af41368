import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type McpOptions, serve, serveStdio } from 'orrery/gateway';
import { startSystem, type Team } from 'orrery';

let system: Team;
beforeAll(async () => {
  system = await startSystem({ agents: [], workers: 1, spareThread: false });
});
afterAll(() => system.stop({ drainMs: 0 }));

const failure = (work: Promise<unknown>): Promise<{ code: string; message: string }> =>
  work.then(
    () => ({ code: 'none', message: 'It was taken' }),
    (error: { code: string; message: string }) => error,
  );

describe('Wrong options of MCP (N-D11)', () => {
  it('are refused naming field and value where it is served', async () => {
    const { code, message } = await failure(serve(system, { mcp: { pageSize: -3 } }));
    expect(code).toBe('INVALID_OPTIONS');
    expect(message).toMatch(/^mcp\.pageSize is -3, expected /);
  });

  it('are refused in the same words over standard input', async () => {
    const { code, message } = await failure(
      serveStdio(system, { mcp: { scopes: { use: [''] } } as McpOptions }),
    );
    expect(code).toBe('INVALID_OPTIONS');
    expect(message).toContain('mcp.scopes.use[0]');
  });

  it('do not show what is secret: the key that signs is told to be too short, and not which it was', async () => {
    const { code, message } = await failure(serve(system, { mcp: { stateKey: 'hunter2' } }));
    expect(code).toBe('INVALID_OPTIONS');
    expect(message).toContain('mcp.stateKey is a text that is not shown');
    expect(message).not.toContain('hunter2');
  });
});
