import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { get } from 'node:https';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { newCertificates } from '../../../../test/fixtures/certificate.ts';
import { orreryHere } from '../run-here.ts';
import { Orrery } from '../spawn-orrery.ts';

let folder: string;
/** Of an agent that takes its time. */
const agents = fileURLToPath(new URL('../fixtures/dawdler.agent.ts', import.meta.url));
const running: Orrery[] = [];

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'orrery-up-'));
});
afterEach(() => {
  for (const { child } of running.splice(0)) child.kill('SIGKILL');
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** What docs/gateway.md has curl send, in the folder `root`. */
function orderOfPage(root: string): string {
  const page = readFileSync(new URL('../../../../docs/gateway.md', import.meta.url), 'utf8');
  const [, body = ''] = /\/callisto\/rpc[\s\S]*? -d '([\s\S]*?)'\n```/.exec(page) ?? [];
  return body.replace(`'"$PWD"'`, root);
}

interface Line {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** The command, which keeps its token in a folder of the test's. */
function start(...words: string[]): Orrery {
  const command = new Orrery(['up', '--port', '0', ...words], { env: { XDG_RUNTIME_DIR: folder } });
  running.push(command);
  return command;
}

async function up(...words: string[]) {
  const command = start('--json', ...words);
  await command.printed('"ready"');
  const lines = command.stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line);
  const url = lines.find(({ type }) => type === 'serving')?.['url'];
  if (typeof url !== 'string') throw new Error(`It does not serve: ${(await command.ended).stderr}`);
  const made = lines.find(({ type }) => type === 'token');
  const bearer: Record<string, string> =
    made === undefined ? {} : { authorization: `Bearer ${String(made['token'])}` };
  return { command, lines, url, bearer, file: String(made?.['file']) };
}

const send = (url: string, tool: string, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${url}/rpc`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'a2a-version': '1.0', ...headers },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'SendMessage',
      params: {
        tenant: 'dawdler',
        message: {
          messageId: `${tool}-1`,
          role: 'ROLE_USER',
          parts: [{ data: { tool, arguments: { text: 'said over A2A' } } }],
        },
      },
    }),
  });

describe('orrery up (DESIGN 8)', () => {
  it('serves the planets, says where each card is, and ends with 130 on Ctrl-C', async () => {
    const command = start();
    await command.printed('Ctrl-C ends it');
    const [, url = ''] = /is served at (\S+)/.exec(command.stdout) ?? [];
    const [, authorization = ''] = /Authorization: (Bearer \S+)/.exec(command.stdout) ?? [];
    expect(command.stdout).toContain(`mars       ${url}/mars/.well-known/agent-card.json`);
    expect(command.stdout).toMatch(/A2A over JSON-RPC +POST \/rpc, POST \/\{agentId\}\/rpc, POST \//);
    expect(command.stdout).toMatch(/MCP +POST \/mcp, GET \/mcp, DELETE \/mcp\n/);
    expect(command.stdout).toContain('Who may come in: whoever has the token\n');
    const cards = [...command.stdout.matchAll(/http\S+agent-card\.json/g)].map(([card]) => card);
    expect(cards).toHaveLength(22);
    for (const card of cards) expect((await fetch(card)).status).toBe(200);
    expect(await (await fetch(`${url}/healthz`)).json()).toEqual({ status: 'ok' });
    const counted = await fetch(`${url}/metrics`, { headers: { authorization } });
    expect(await counted.text()).toContain('orrery_agents{status="running"} 21');
    const asked = await fetch(`${url}/callisto/rpc`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'a2a-version': '1.0', authorization },
      body: orderOfPage(join(import.meta.dirname, '../..')),
    });
    expect(await asked.json()).toMatchObject({
      result: { task: { status: { state: 'TASK_STATE_COMPLETED' }, artifacts: [{ name: 'docs.check' }] } },
    });
    command.child.kill('SIGINT');
    const ended = await command.ended;
    expect(ended).toMatchObject({ code: 130, stderr: '' });
    expect(ended.stdout).toMatch(/Closing\n$/);
  });

  it('prints the line that approves what others say of their tools, until it is there (F-09)', async () => {
    const bad = fileURLToPath(new URL('../../../../test/fixtures/agents/mcp-bad.agent.ts', import.meta.url));
    const { lines } = await up('--agents', bad);
    const line = /catalogue: \{ approved: 'sha256:[0-9a-f]{64}' \}$/;
    const [told] = lines.filter(({ type }) => type === 'catalogue');
    expect(told).toMatchObject({ agentId: 'bad', reason: expect.stringMatching(line) });
    const command = start('--agents', bad);
    await command.printed('Ctrl-C ends it');
    expect(command.stdout.split('\n')).toContain(told?.['reason']);
  });

  it('serves modules that are named, in lines of JSON, and says what it waits for when it is stopped', async () => {
    const { command, lines, url } = await up(
      ...['--agents', agents, '--name', 'Trial', '--entry', 'dawdler', '--grpc-port', '0', '--no-token'],
    );
    expect(lines[0]).toMatchObject({ anonymous: true, schemes: [] });
    expect(lines.map(({ type }) => type)).toEqual(
      expect.arrayContaining(['serving', 'agent', 'route', 'ready']),
    );
    expect(lines[0]).toMatchObject({ grpcAddress: expect.stringMatching(/^127\.0\.0\.1:\d+$/) as string });
    expect(lines).toContainEqual({
      type: 'agent',
      id: 'dawdler',
      name: 'DAWDLER',
      tier: 2,
      card: `${url}/dawdler/.well-known/agent-card.json`,
    });
    expect(await (await send(url, 'echo')).text()).toContain('said over A2A');
    const late = send(url, 'dawdle').then(
      (answer) => answer.text(),
      () => 'cut',
    );
    await until(async () => (await (await fetch(`${url}/metrics`)).text()).includes('requests_in_hand 2'));
    command.child.kill('SIGTERM');
    const ended = await command.ended;
    expect(ended.code).toBe(143);
    // What was cut off is in the log, if there was time to write it.
    const logged = ended.stderr.split('\n').filter((line) => line !== '');
    for (const line of logged)
      expect(JSON.parse(line)).toMatchObject({ event: 'dead-letter', errorCode: 'SYSTEM_STOPPED' });
    expect(ended.stdout).toContain('{"type":"closing","inHand":1,"drainMs":500}');
    await late;
  });

  it('lets in who has a key that orrery key has put on the list, and nobody else', async () => {
    const list = join(folder, 'keys.json');
    const made = await orreryHere(
      'key',
      '--tenant',
      'acme',
      '--roles',
      'reader,writer',
      '--add',
      list,
      '--json',
    );
    const { key, record } = JSON.parse(made.stdout) as { key: string; record: { sha256: string } };
    const shown = await orreryHere('key', '--kind', 'user', '--tier', '2', '--days', '30', '--add', list);
    expect(shown.stdout).toContain(`Its record is in ${list}.`);
    expect(readFileSync(list, 'utf8')).not.toContain(key);
    expect(JSON.parse(readFileSync(list, 'utf8'))).toMatchObject([
      { ...record, tenant: 'acme', roles: ['reader', 'writer'], kind: 'service', tier: 3 },
      { kind: 'user', tier: 2, expiresAtMs: expect.any(Number) as number },
    ]);
    const { lines, url } = await up('--agents', agents, '--host', '0.0.0.0', '--api-keys', list);
    expect(lines[0]).toMatchObject({ anonymous: false, schemes: ['ApiKey'], host: '0.0.0.0' });
    expect((await send(url, 'echo')).status).toBe(401);
    expect(await (await send(url, 'echo', { 'x-api-key': key })).text()).toContain('said over A2A');
    expect((await fetch(`${url}/metrics`)).status).toBe(401);
    // The list counts as it is when somebody comes.
    const later = await orreryHere('key', '--tenant', 'acme', '--add', list, '--json');
    const { key: added } = JSON.parse(later.stdout) as { key: string };
    expect((await send(url, 'echo', { 'x-api-key': added })).status).toBe(200);
    const records = JSON.parse(readFileSync(list, 'utf8')) as object[];
    writeFileSync(list, JSON.stringify(records.slice(1)));
    expect((await send(url, 'echo', { 'x-api-key': key })).status).toBe(401);
    expect((await send(url, 'echo', { 'x-api-key': added })).status).toBe(200);
    writeFileSync(list, '[');
    expect((await send(url, 'echo', { 'x-api-key': added })).status).toBe(200);
  });

  it('keeps tasks in a journal: what was done is there after a kill -9', async () => {
    const words = ['--agents', agents, '--journal', join(folder, 'journal')];
    const first = await up(...words);
    const answered = await send(first.url, 'echo', first.bearer);
    const sent = (await answered.json()) as { result: { task: { id: string } } };
    first.command.child.kill('SIGKILL');
    await first.command.ended;
    const { url, bearer } = await up(...words);
    const { id } = sent.result.task;
    const read = (headers: Record<string, string>): Promise<Response> =>
      fetch(`${url}/tasks/${id}`, { headers: { 'a2a-version': '1.0', ...headers } });
    expect(await (await read(bearer)).text()).toContain('said over A2A');
    // Each start has a token of its own.
    expect((await read(first.bearer)).status).toBe(401);
  });

  it('is for its own user: without the token there are cards and health alone (X-01)', async () => {
    const { command, lines, url, bearer, file } = await up('--agents', agents);
    expect(lines[0]).toMatchObject({ anonymous: false, schemes: ['Bearer'] });
    expect(bearer).toEqual({ authorization: `Bearer ${readFileSync(file, 'utf8').trim()}` });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(dirname(file)).mode & 0o777).toBe(0o700);
    for (const path of [
      '/.well-known/agent-card.json',
      '/dawdler/.well-known/agent-card.json',
      '/healthz',
      '/readyz',
    ])
      expect((await fetch(url + path)).status).toBe(200);
    const asked = {
      rpc: (headers: object) => send(url, 'echo', { ...headers }),
      mcp: (headers: object) =>
        fetch(`${url}/mcp`, {
          method: 'POST',
          headers: {
            'content-type': 'application/json',
            accept: 'application/json, text/event-stream',
            ...headers,
          },
          body: JSON.stringify({
            jsonrpc: '2.0',
            id: 1,
            method: 'initialize',
            params: {
              protocolVersion: '2025-11-25',
              capabilities: {},
              clientInfo: { name: 'c', version: '1' },
            },
          }),
        }),
      rest: (headers: object) => fetch(`${url}/tasks`, { headers: { 'a2a-version': '1.0', ...headers } }),
      metrics: (headers: object) => fetch(`${url}/metrics`, { headers: { ...headers } }),
    };
    for (const [name, ask] of Object.entries(asked)) {
      expect([name, (await ask({})).status]).toEqual([name, 401]);
      expect([name, (await ask({ authorization: `Bearer ${'x'.repeat(43)}` })).status]).toEqual([name, 401]);
      expect([name, (await ask(bearer)).status]).toEqual([name, 200]);
    }
    command.child.kill('SIGTERM');
    await command.ended;
    expect(existsSync(file)).toBe(false);
  });

  it('serves https with a key and its certificate', async () => {
    const made = newCertificates();
    const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
    writeFileSync(key, made.key);
    writeFileSync(cert, made.cert);
    const { url } = await up('--agents', agents, '--tls-key', key, '--tls-cert', cert);
    expect(url).toMatch(/^https:/);
    const asked = get(`${url}/healthz`, { ca: made.ca });
    const [answer] = (await once(asked, 'response')) as [import('node:http').IncomingMessage];
    expect(answer.statusCode).toBe(200);
    answer.resume();
  });

  it('says which port is taken', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as { port: number };
    const ended = await orreryHere('up', '--agents', agents, '--port', String(port));
    taken.close();
    expect(ended).toMatchObject({
      code: 64,
      stdout: '',
      stderr: `orrery: Option "--port" is "${port}", expected one that nobody else listens on\nSee 'orrery up --help'.\n`,
    });
  });
});

describe('orrery up refuses with 64, naming option and value, what is seen only when it is to be served', () => {
  const refused: readonly [string, () => string[], string][] = [
    [
      'a name that is none',
      () => ['--agents', agents, '--hosts', 'a b', '--port', '0'],
      'Option "--hosts" is "a b", expected a name such as',
    ],
    [
      'a wider address without a way to prove who one is',
      () => ['--agents', agents, '--host', '0.0.0.0', '--port', '0'],
      'Option "--host" is "0.0.0.0", expected an address of this machine alone',
    ],
    [
      'a certificate that is none',
      () => ['--agents', agents, '--tls-key', agents, '--tls-cert', agents],
      'Option "--tls-key" is',
    ],
    [
      'an entry that is nobody',
      () => ['--agents', agents, '--entry', 'nobody', '--port', '0'],
      'Option "--entry" is "nobody", expected the id of an agent',
    ],
    [
      'an origin that is none',
      () => ['--agents', agents, '--origins', 'app', '--port', '0'],
      'Option "--origins" is "app", expected an origin',
    ],
    [
      'a name that is none',
      () => ['--agents', agents, '--delegation', 'a/b', '--port', '0'],
      'Option "--delegation" is "a/b"',
    ],
  ];
  it.each(refused)('%s', async (_, words, message) => {
    const ended = await orreryHere('up', ...words());
    expect(ended).toMatchObject({ code: 64, stdout: '' });
    expect(ended.stderr).toContain(message);
    expect(ended.stderr).toContain("See 'orrery up --help'.");
  });
});

async function until(isTrue: () => Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await new Promise((resolve) => setTimeout(resolve, 20));
}
