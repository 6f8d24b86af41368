import { describe, expect, it } from 'vitest';
import { parseGatewayOptions } from '../../../../../gateway/serve-options.ts';

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
  it.each(WRONG)('%j is refused naming %s and its value', (given, field, value) => {
    const parse = () => parseGatewayOptions({ mcp: given as never }, true);
    expect(parse).toThrow(expect.objectContaining({ code: 'INVALID_OPTIONS' }));
    expect(parse).toThrow(`${field} is ${value}, expected `);
    expect(parse).not.toThrow('something else');
  });
});
