import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'node:http';
import { createServer } from 'node:net';
import { Readable } from 'node:stream';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { GatewayOptions } from '../../gateway/http/gateway-options.ts';
import { rawConnection } from '../fixtures/raw-http.ts';
import { trialGateway } from '../fixtures/trial-gateway.ts';
import { until } from '../fixtures/until.ts';

type Trial = Awaited<ReturnType<typeof trialGateway>>;
const opened: Trial[] = [];
const open = async (...args: Parameters<typeof trialGateway>): Promise<Trial> => {
  const trial = await trialGateway(...args);
  opened.push(trial);
  return trial;
};
const limited = (limits: GatewayOptions['limits'] & object): Promise<Trial> => open({ limits });

afterEach(async () => {
  for (const trial of opened.splice(0)) await trial.close({ drainMs: 0 });
});

const counted = ({ metrics }: Trial['gateway'], line: string): Promise<boolean> =>
  until(line, async () => (await metrics.text()).includes(line));

const errorIn = (heard: string): unknown =>
  (JSON.parse(heard.slice(heard.indexOf('\r\n\r\n') + 4)) as { error: unknown }).error;

const post = (length: number | string, path = '/size'): string =>
  `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${length}\r\n\r\n`;

describe('A gateway on a socket (DESIGN 8)', () => {
  it('takes bodies of 200 KB and 20 MB, with and without a length', async () => {
    const { url } = await open();
    for (const size of [200_000, 20_000_000]) {
      const whole = await fetch(`${url}/size`, { method: 'POST', body: Buffer.alloc(size) });
      expect(await whole.json()).toEqual({ bytes: size });
      const parts = Readable.from(Array.from({ length: size / 100_000 }, () => Buffer.alloc(100_000)));
      const chunked = await fetch(`${url}/size`, {
        method: 'POST',
        body: Readable.toWeb(parts) as ReadableStream,
        duplex: 'half',
      } as RequestInit);
      expect(await chunked.json()).toEqual({ bytes: size });
    }
  });

  it('tells whoever sends too much, while they send, and goes on', async () => {
    const { url } = await limited({ maxBodyBytes: 100_000 });
    const answer = await fetch(`${url}/size`, { method: 'POST', body: Buffer.alloc(5_000_000) });
    expect(answer.status).toBe(413);
    expect(await answer.json()).toMatchObject({ error: { code: 'BODY_TOO_LARGE' } });
    expect((await fetch(`${url}/agents/mars`)).status).toBe(200);
  });

  it('does not ask for a body that is too large by its own account', async () => {
    const { port } = await limited({ maxBodyBytes: 100 });
    const ask = (length: number) =>
      request({
        port,
        path: '/size',
        method: 'POST',
        headers: { 'content-length': length, expect: '100-continue' },
      });
    const tooLarge = ask(101);
    let isContinued = false;
    tooLarge.on('continue', () => {
      isContinued = true;
    });
    tooLarge.flushHeaders();
    const [answer] = await once(tooLarge, 'response');
    expect([answer.statusCode, isContinued]).toEqual([413, false]);
    tooLarge.destroy();
    const fits = ask(100);
    fits.on('continue', () => fits.end(Buffer.alloc(100)));
    fits.flushHeaders();
    const [taken] = await once(fits, 'response');
    expect(taken.statusCode).toBe(200);
    taken.resume();
  });

  it('ends a connection that says less than it has promised', async () => {
    const { port } = await limited({ bodyTimeoutMs: 300 });
    const raw = await rawConnection(port);
    raw.say(`${post(10)}12345`);
    const heard = await raw.heard;
    expect(heard).toContain('408 Request Timeout');
    expect(errorIn(heard)).toMatchObject({ code: 'TOO_SLOW' });
  });

  it('takes what comes after a body as the next request', async () => {
    const { port } = await open();
    const raw = await rawConnection(port);
    raw.say(`${post(3)}123GET /agents/mars HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
    const heard = await raw.heard;
    expect(heard).toContain('{"bytes":3}');
    expect(heard).toMatch(/mars$/);
  });

  it('counts a body that its sender cuts off as refused', async () => {
    const { port, gateway } = await open();
    const raw = await rawConnection(port);
    raw.say(`${post(10)}12345`);
    await counted(gateway, 'orrery_gateway_bytes_in_hand 5');
    raw.socket.destroy();
    await counted(gateway, 'refusals_total{code="INVALID_OPTIONS"} 1');
    await counted(gateway, 'orrery_gateway_requests_in_hand 0');
  });
});

describe('What is no HTTP (DESIGN 8)', () => {
  it.each([
    ['nonsense', 'hello\r\n\r\n', 400, 'BAD_REQUEST'],
    ['an invented method', 'BREW / HTTP/1.1\r\nHost: localhost\r\n\r\n', 400, 'BAD_REQUEST'],
    [
      'two lengths',
      'POST /size HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab',
      400,
      'BAD_REQUEST',
    ],
    [
      'a length and chunks',
      'POST /size HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      400,
      'BAD_REQUEST',
    ],
    ['a negative length', post(-1), 400, 'BAD_REQUEST'],
    ['a header with a null byte', 'GET / HTTP/1.1\r\nHost: localhost\r\nX: a\0b\r\n\r\n', 400, 'BAD_REQUEST'],
    ['a folded header', 'GET / HTTP/1.1\r\nHost: localhost\r\nX: a\r\n b\r\n\r\n', 400, 'BAD_REQUEST'],
    [
      'headers that are too large',
      `GET / HTTP/1.1\r\nHost: localhost\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`,
      431,
      'HEADERS_TOO_LARGE',
    ],
    [
      'chunks of a size that is none',
      'POST /size HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n',
      400,
      'BAD_REQUEST',
    ],
    ['no name', 'GET / HTTP/1.1\r\nConnection: close\r\n\r\n', 400, 'BAD_REQUEST'],
    ['a name that is none', 'GET / HTTP/1.1\r\nHost: a b\r\nConnection: close\r\n\r\n', 400, 'BAD_REQUEST'],
    [
      'a target that is none',
      'GET http://%zz/ HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n',
      400,
      'BAD_REQUEST',
    ],
    [
      'two names, of which the target counts',
      'GET http://evil.example/agents/mars HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n',
      421,
      'HOST_NOT_SERVED',
    ],
  ])('%s is answered as JSON, and the connection ends', async (_, text, status, code) => {
    const { port, url } = await open();
    const raw = await rawConnection(port);
    raw.say(text);
    const heard = await raw.heard;
    expect(heard).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(heard.toLowerCase()).toContain('content-type: application/json');
    expect(errorIn(heard)).toMatchObject({ code });
    expect(heard).not.toMatch(/<html|at .*\.ts:/i);
    expect((await fetch(`${url}/agents/mars`)).status).toBe(200);
  });

  it('a request that comes byte by byte is not waited for', async () => {
    const { port } = await limited({ headersTimeoutMs: 1_000 });
    const [silent, slow] = await Promise.all([rawConnection(port), rawConnection(port)]);
    slow.say('GET /agents/mars HTTP/1.1\r\nHost: local');
    expect(errorIn(await slow.heard)).toMatchObject({ code: 'TOO_SLOW' });
    expect(await silent.heard).toMatch(/^(HTTP\/1\.1 408 .*)?$/s);
  });

  it('nonsense in the middle of an answer ends it', async () => {
    const { port } = await open();
    const raw = await rawConnection(port);
    raw.say('GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await raw.hears('tick');
    raw.say('nonsense\r\n\r\n');
    expect(await raw.heard).not.toContain('400');
  });
});

describe('A stream (DESIGN 8)', () => {
  it('is known to its caller before it says anything', async () => {
    const { url, release } = await open();
    const answer = await fetch(`${url}/mute`);
    expect(answer.headers.get('content-type')).toBe('text/event-stream');
    release();
    expect(await answer.text()).toBe('data: tick\n\n');
  });

  it('has a head without a body', async () => {
    const { url, inHand, streams } = await open();
    const answer = await fetch(`${url}/stream`, { method: 'HEAD' });
    expect([answer.status, await answer.text()]).toEqual([200, '']);
    await until('nothing is in hand', () => inHand() === 0);
    await until('the stream has ended', () => streams.ended === streams.begun);
  });
});

describe('A stream that fails in the middle (DESIGN 8)', () => {
  it('ends its connection, so that it does not look whole, and tells nobody why but the operator', async () => {
    const said = vi.spyOn(console, 'error');
    const { port, faults, gateway, release } = await open();
    const raw = await rawConnection(port);
    raw.say('GET /breaks HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await raw.hears('tick');
    release();
    const heard = await raw.heard;
    expect(heard).not.toContain('secret');
    expect(heard).not.toMatch(/0\r\n\r\n$/);
    expect(faults).toEqual([expect.objectContaining({ message: 'the secret is 43' })]);
    await counted(gateway, 'orrery_gateway_open_streams 0');
    expect(said).not.toHaveBeenCalled();
    said.mockRestore();
  });
});

/** Opens so many connections, and prints how many there are when they all are, or after half a minute. */
const CROWD = `
  const { connect } = require('node:net');
  const [port, count] = process.argv.slice(1).map(Number);
  let open = 0;
  const end = () => { console.log(open); process.exit(); };
  setTimeout(end, 30_000);
  for (let at = 0; at < count; at++)
    connect(port, '127.0.0.1', () => { open += 1; if (open === count) end(); }).on('error', () => undefined);
`;

describe('Connections (DESIGN 8)', () => {
  it('are made while the thread is busy: a thousand wait until they are accepted', async () => {
    const { port } = await open();
    // This thread, which serves, does nothing else meanwhile.
    expect(execFileSync(process.execPath, ['-e', CROWD, String(port), '1000'], { encoding: 'utf8' })).toBe(
      '1000\n',
    );
  });

  it('are no more than may be: the next one is closed, and is counted', async () => {
    const { port, gateway } = await limited({ maxConnections: 2 });
    const held = await Promise.all([rawConnection(port), rawConnection(port)]);
    for (const { say } of held) say('GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await Promise.all(held.map(({ hears }) => hears('tick')));
    expect(await (await rawConnection(port)).heard).toBe('');
    expect(await gateway.metrics.text()).toContain('refusals_total{code="TOO_MANY_CONNECTIONS"} 1');
    held[0]?.socket.destroy();
    await counted(gateway, 'orrery_gateway_connections 1');
    const next = await rawConnection(port);
    next.say('GET /agents/mars HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
    expect(await next.heard).toMatch(/mars$/);
  });

  it('that wait for nothing are ended, and those that wait for an answer are not', async () => {
    const { port, release } = await limited({ idleTimeoutMs: 2_000, stallTimeoutMs: 2_000 });
    const [idle, waiting] = await Promise.all([rawConnection(port), rawConnection(port)]);
    waiting.say('GET /waits HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
    idle.say('GET /agents/mars HTTP/1.1\r\nHost: localhost\r\n\r\n');
    expect(await idle.heard).toContain('mars');
    release();
    expect(await waiting.heard).toMatch(/done$/);
  });

  it('whose caller takes nothing of what it is sent are ended', async () => {
    const { port, gateway } = await limited({ stallTimeoutMs: 2_000 });
    const raw = await rawConnection(port);
    raw.socket.pause();
    const body = 20_000_000;
    raw.say(post(body, '/echo'));
    raw.say(Buffer.alloc(body));
    await counted(gateway, 'route="/echo"');
    await counted(gateway, 'orrery_gateway_connections 0');
    raw.socket.destroy();
  });
});

describe('The end of a gateway (DESIGN 8)', () => {
  it('lets what is in hand be done, streams say their last, and nobody in', async () => {
    const trial = await open();
    const { port, url, release, close } = trial;
    const waiting = fetch(`${url}/waits`);
    const stream = await rawConnection(port);
    stream.say('GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await stream.hears('tick');
    const idle = await rawConnection(port);
    idle.say('GET /agents/mars HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await idle.hears('mars');
    const closed = close({ drainMs: 20_000 });
    await stream.hears('last');
    await expect(fetch(`${url}/agents/mars`)).rejects.toThrow();
    release();
    expect(await (await waiting).text()).toBe('done');
    await closed;
    expect(await stream.heard).toContain('0\r\n\r\n');
    await idle.heard;
  });

  it('under load answers everything that it has taken, or nothing of it', async () => {
    const { url, close } = await open();
    let isOver = false;
    const seen: string[] = [];
    const load = Array.from({ length: 16 }, async () => {
      while (!isOver) {
        const answer = await fetch(`${url}/size`, { method: 'POST', body: 'x'.repeat(50_000) }).catch(
          () => undefined,
        );
        if (answer === undefined) return;
        seen.push(`${answer.status} ${await answer.text().catch(() => 'cut')}`);
      }
    });
    await until('50 answers', () => seen.length > 50);
    await close({ drainMs: 20_000 });
    isOver = true;
    await Promise.all(load);
    const odd = seen.filter(
      (one) => one !== '200 {"bytes":50000}' && !one.startsWith('503 {"error":{"code":"SYSTEM_STOPPED"'),
    );
    expect(odd).toEqual([]);
  });

  it('ends what takes longer than it may', async () => {
    const { url, close } = await open();
    const waiting = fetch(`${url}/waits`).then(
      () => 'answered',
      () => 'cut',
    );
    const other = await fetch(`${url}/agents/mars`);
    await other.text();
    await close({ drainMs: 50 });
    expect(await waiting).toBe('cut');
  });
});

describe('Where it listens', () => {
  it('is this machine alone, on a port that is free', async () => {
    const { url, host, port } = await open();
    expect(host).toBe('127.0.0.1');
    expect(url).toBe(`http://127.0.0.1:${port}`);
  });

  it.each(['0.0.0.0', '::', '192.0.2.1', 'agents.example'])(
    'is not %s, which others can reach, without an authenticator (DESIGN 8)',
    async (host) => {
      await expect(trialGateway({}, { host })).rejects.toMatchObject({
        code: 'INVALID_OPTIONS',
        message: expect.stringContaining(`host is "${host}"`) as string,
      });
    },
  );

  it('is a wider address with one, and is reached over it', async () => {
    const { port, url } = await open({ schemes: ['ApiKey'] }, { host: '0.0.0.0' });
    expect(url).toBe(`http://127.0.0.1:${port}`);
    expect((await fetch(`${url}/agents/mars`)).status).toBe(200);
  });

  it('is ::1 as well', async () => {
    const { url } = await open({}, { host: '::1' });
    expect((await fetch(`${url}/agents/mars`)).status).toBe(200);
  });

  it('is said when it cannot be: a port that is taken, an address of somebody else', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as { port: number };
    await expect(trialGateway({}, { port })).rejects.toMatchObject({
      code: 'INVALID_OPTIONS',
      message: `port is ${port}, expected one that nobody else listens on`,
    });
    taken.close();
    await expect(trialGateway({}, { port: 70_000 })).rejects.toThrow('port is 70000, expected');
    await expect(trialGateway({ schemes: ['ApiKey'] }, { host: '192.0.2.1' })).rejects.toThrow(
      'host is "192.0.2.1", expected an address of this machine',
    );
  });
});
