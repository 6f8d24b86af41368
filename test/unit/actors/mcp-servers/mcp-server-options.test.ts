import { mcpServer } from 'orrery/mcp';
import { describe, expect, it } from 'vitest';

const PROGRAM = { id: 'x', command: 'some-server' };
const SITE = { id: 'x', url: 'https://tools.example/mcp' };

describe('The options of an MCP server', () => {
  it.each([
    [{ id: 'x' }, 'mcpServer.command is undefined, expected either a command or a url'],
    [{ ...PROGRAM, ...SITE, env: { TOKEN: 'hush' } }, 'mcpServer.command is "some-server", expected either'],
    [{ ...PROGRAM, headers: { authorization: 'hush' } }, 'mcpServer.headers is an object that is not shown'],
    [
      { ...PROGRAM, auth: { token: () => Promise.resolve('hush') } },
      'mcpServer.auth is an object that is not shown',
    ],
    [
      { ...PROGRAM, transport: 'auto' },
      'mcpServer.transport is "auto", expected nothing where there is no url',
    ],
    [{ ...SITE, args: ['-y'] }, 'mcpServer.args is ["-y"], expected nothing where there is no command'],
    [{ ...SITE, args: [] }, 'mcpServer.args is [], expected nothing where there is no command'],
    [{ ...SITE, env: { MODE: 'fast' } }, 'mcpServer.env is an object that is not shown'],
    [{ ...SITE, cwd: '/srv' }, 'mcpServer.cwd is "/srv", expected nothing where there is no command'],
    [{ ...SITE, maxUnaskedBytes: 9 }, 'mcpServer.maxUnaskedBytes is 9, expected nothing where there is no'],
    [{ ...SITE, stopGraceMs: 0 }, 'mcpServer.stopGraceMs is 0, expected nothing where there is no command'],
    [{ ...SITE, auth: { tokn: () => Promise.resolve('hush') } }, 'expected an OAuth client, or { token }'],
    [
      { ...SITE, url: 'ftp://tools.example' },
      'mcpServer.url is "ftp://tools.example", expected a URL of http or',
    ],
    [{ ...SITE, url: 'nope' }, 'mcpServer.url is "nope", expected a URL of http or https'],
    [{ ...SITE, revision: '2025' }, 'mcpServer.revision is "2025", expected auto, legacy, or a revision'],
    [
      { ...PROGRAM, grantedTier: 0 },
      'mcpServer.grantedTier is 0, expected 1, 2 or 3: tier 0 is never outside',
    ],
    [{ ...PROGRAM, restart: 'never' }, 'mcpServer.restart is "never", expected'],
    [
      { ...PROGRAM, supervision: { intensity: { maxRestarts: -1 } } },
      'mcpServer.supervision.intensity.maxRestarts is -1, expected',
    ],
    [
      { ...SITE, supervision: { halfOpen: true } },
      'mcpServer.supervision.halfOpen is true, expected a back-off, or false',
    ],
    [{ ...SITE, supervision: { backoff: {} } }, 'mcpServer.supervision.backoff is'],
    [{ ...PROGRAM, privileged: [1] }, 'mcpServer.privileged[0] is 1, expected a text'],
    [{ ...PROGRAM, silence: 5 }, 'mcpServer.silence is 5, expected no option of this name'],
  ])('are refused naming field and value where they are wrong: %j', (options, message) => {
    const refuse = () => mcpServer(options as never);
    expect(refuse).toThrow(message);
    expect(refuse).toThrow(expect.objectContaining({ code: 'INVALID_OPTIONS' }));
  });

  it('are taken where they are right', () => {
    const client = { tokens: () => undefined } as never;
    expect(() => mcpServer({ ...SITE, auth: { token: async () => 'hush' } })).not.toThrow();
    expect(() => mcpServer({ ...SITE, url: new URL('http://[::1]:1/mcp'), auth: client })).not.toThrow();
    expect(() => mcpServer({ ...PROGRAM, privileged: true, revision: '2025-11-25' })).not.toThrow();
    const program = { args: ['-y'], env: { MODE: 'fast' }, cwd: '/srv', maxUnaskedBytes: 9, stopGraceMs: 0 };
    expect(() => mcpServer({ ...PROGRAM, ...program })).not.toThrow();
    // Options that are put together from several may have what is not there.
    expect(() =>
      mcpServer({ ...SITE, env: undefined, transport: 'sse', headers: {} } as never),
    ).not.toThrow();
  });
});
