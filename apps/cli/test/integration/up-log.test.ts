import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { Orrery } from '../spawn-orrery.ts';

const agents = fileURLToPath(new URL('../fixtures/leaky.agent.ts', import.meta.url));
const SECRET = 'Zx9Qw8Er7Ty6Ui5Op4As3Df2';
const folder = mkdtempSync(join(tmpdir(), 'orrery-log-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Has the agent die over a text with a credential in it, and ends the command. */
async function logOf(...words: readonly string[]): Promise<string> {
  const options = ['up', '--port', '0', '--json', '--no-token', '--agents', agents];
  const command = new Orrery([...options, ...words], { env: { XDG_RUNTIME_DIR: folder } });
  try {
    await command.printed('"ready"');
    const [, url = ''] = /"url":"([^"]+)"/.exec(command.stdout) ?? [];
    const answer = await fetch(`${url}/leaky/rpc`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'a2a-version': '1.0' },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'SendMessage',
        params: {
          message: {
            messageId: 'm',
            role: 'ROLE_USER',
            parts: [{ data: { tool: 'leak', arguments: { text: `password=${SECRET}` } } }],
          },
        },
      }),
    });
    expect(await answer.text()).toContain('HANDLER_FAILED');
    command.child.kill('SIGTERM');
    const { stderr } = await command.ended;
    return stderr;
  } finally {
    command.child.kill('SIGKILL');
  }
}

interface Line {
  readonly level: string;
  readonly time: string;
  readonly event: string;
  readonly agentId?: string;
  readonly msg: string;
}

const linesOf = (text: string): readonly Line[] =>
  text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Line]));

describe('The log of orrery up', () => {
  it('is JSON on standard error: what went wrong, without credentials', async () => {
    const text = await logOf();
    expect(text).not.toContain(SECRET);
    const lines = linesOf(text);
    const died = lines.find(({ event }) => event === 'agent-crashed');
    expect(died).toMatchObject({ level: 'warn', agentId: 'leaky' });
    expect(died?.msg).toContain('the service refused password=[hidden]');
    expect(Date.parse(died?.time ?? '')).toBeGreaterThan(0);
    expect(lines.map(({ level }) => level)).not.toContain('info');
  });

  it('has lives too from level info on, and is text where that is asked for', async () => {
    const text = await logOf('--log-level', 'info', '--log-format', 'text');
    expect(text).toMatch(/^\d{4}-\S+Z INFO {2}agent-started: leaky$/m);
    expect(text).toMatch(/^\d{4}-\S+Z WARN {2}agent-crashed: leaky: /m);
  });

  it('is not written where nobody wants it', async () => {
    expect(await logOf('--log-level', 'silent')).toBe('');
  });
});
