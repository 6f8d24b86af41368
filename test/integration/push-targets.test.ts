import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer as createTlsServer } from 'node:https';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, describe, expect, it } from 'vitest';
import { parseOptions } from '../../runtime/protocol/parse-options.ts';
import { systemClock } from '../../runtime/protocol/system-seams.ts';
import { type GuardedFetch, guardedFetch } from '../../gateway/a2a/server/push/guarded-fetch.ts';
import { ForeignUrlRules } from '../../gateway/reach/foreign-url.ts';
import { FakeClock } from '../fixtures/fake-clock.ts';
import { type Answer, PushReceiver } from '../fixtures/push-receiver.ts';
import { ALICE, PushedTasks } from '../fixtures/pushed-tasks.ts';
import { rejection, until } from '../fixtures/until.ts';
import { CONDITIONS } from '../fixtures/conditions.ts';

const ended: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ended.splice(0).reverse()) await end();
});

async function receiver(options?: { host?: string; port?: number }): Promise<PushReceiver> {
  const started = await PushReceiver.start(undefined, options);
  ended.push(() => started.kill());
  return started;
}

const fetchWith = (targets: ForeignUrlRules, clock = systemClock): GuardedFetch =>
  guardedFetch({ clock, timeoutMs: 10_000, rules: parseOptions(ForeignUrlRules, targets, 'targets') });

const post = (url: string) => ({
  url,
  headers: { 'Content-Type': 'application/json' },
  body: new TextEncoder().encode('{"news":1}'),
  signal: new AbortController().signal,
});

const only =
  (...allowed: string[]) =>
  (address: string): boolean =>
    allowed.includes(address);

describe('posting where somebody else says', () => {
  it.each([
    'http://127.0.0.1:PORT/',
    'http://127.1:PORT/',
    'http://2130706433:PORT/',
    'http://0x7f000001:PORT/',
    'http://0177.0.0.1:PORT/',
    'http://0:PORT/',
    'http://0.0.0.0:PORT/',
    'http://localhost:PORT/',
    'http://localhost.:PORT/',
    'http://receiver.localhost:PORT/',
    'http://[::1]:PORT/',
    'http://[::]:PORT/',
    'http://[::ffff:127.0.0.1]:PORT/',
    'http://[::ffff:7f00:1]:PORT/',
    'http://[::127.0.0.1]:PORT/',
    'http://[64:ff9b::7f00:1]:PORT/',
    'http://private.example:PORT/',
    'http://half-private.example:PORT/',
    'http://mapped.example:PORT/',
    'http://metadata.example:PORT/',
  ])('never reaches a receiver on this machine by %s', async (pattern) => {
    const hook = await receiver({ host: '::' }).catch(() => receiver());
    const names: Record<string, readonly string[]> = {
      'private.example': ['127.0.0.1'],
      'half-private.example': ['93.184.216.34', '127.0.0.1'],
      'mapped.example': ['::ffff:127.0.0.1'],
      'metadata.example': ['169.254.169.254'],
    };
    const fetch = fetchWith({ allowHttp: true, resolve: async (name) => names[name] ?? [] });
    const { code } = await rejection(fetch(post(pattern.replace('PORT', String(hook.port)))));
    expect(code).toBe('INVALID_PAYLOAD');
    expect(hook.connections).toBe(0);
  });

  it('connects to the very address that it has checked, whatever the name means a moment later', async () => {
    const asked = await receiver({ host: '127.0.0.2' });
    const hidden = await receiver({ host: '127.0.0.1', port: asked.port });
    let lookUps = 0;
    const resolve = async (): Promise<readonly string[]> => [lookUps++ === 0 ? '127.0.0.2' : '127.0.0.1'];
    const fetch = fetchWith({ allowHttp: true, resolve, allowPrivate: only('127.0.0.2') });
    const url = `http://rebinding.example:${asked.port}/`;
    expect(await fetch(post(url))).toEqual({ status: 204 });
    expect({ lookUps, asked: asked.posts.length, hidden: hidden.connections }).toEqual({
      lookUps: 1,
      asked: 1,
      hidden: 0,
    });
    expect((await rejection(fetch(post(url)))).code).toBe('INVALID_PAYLOAD');
    expect(hidden.connections).toBe(0);
    expect(asked.posts[0]?.headers.host).toBe(`rebinding.example:${asked.port}`);
  });

  it('tries the other addresses of a name when the first does not answer', async () => {
    const hook = await receiver();
    const resolve = async (): Promise<readonly string[]> => ['127.0.0.3', '127.0.0.1'];
    const fetch = fetchWith({ allowHttp: true, resolve, allowPrivate: only('127.0.0.3', '127.0.0.1') });
    expect(await fetch(post(`http://several.example:${hook.port}/`))).toEqual({ status: 204 });
  });

  it('follows no redirect, wherever it leads', async () => {
    const hidden = await receiver();
    const hook = await receiver();
    for (const status of [301, 302, 303, 307, 308]) {
      hook.answer = (_at, response) => void response.writeHead(status, { Location: hidden.url }).end();
      const fetch = fetchWith({ allowHttp: true, allowPrivate: only('127.0.0.1') });
      expect(await fetch(post(hook.url))).toEqual({ status });
    }
    expect(hidden.connections).toBe(0);
  });

  it('goes through no proxy, whatever the environment says', async () => {
    const proxied: string[] = [];
    const proxy: Server = createServer((request, response) => {
      proxied.push(request.url ?? '');
      response.writeHead(200).end();
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    ended.push(() => new Promise((resolve) => proxy.close(resolve)));
    const hook = await receiver();
    const { port } = proxy.address() as AddressInfo;
    const script = `
      import { guardedFetch } from './gateway/a2a/server/push/guarded-fetch.ts';
      import { ForeignUrlRules } from './gateway/reach/foreign-url.ts';
      import { systemClock } from './runtime/protocol/system-seams.ts';
      const rules = ForeignUrlRules.parse({ allowHttp: true, allowPrivate: () => true });
      const fetch = guardedFetch({ clock: systemClock, timeoutMs: 10_000, rules });
      const body = new TextEncoder().encode('{}');
      console.log(JSON.stringify(await fetch({ url: ${JSON.stringify(hook.url)}, headers: {}, body, signal: new AbortController().signal })));`;
    const env = {
      ...process.env,
      NODE_USE_ENV_PROXY: '1',
      HTTP_PROXY: `http://127.0.0.1:${port}`,
      NO_PROXY: '',
    };
    const args = [...CONDITIONS, '--input-type=module', '-e', script];
    const { stdout } = await promisify(execFile)(process.execPath, args, { env });
    expect(JSON.parse(stdout)).toEqual({ status: 204 });
    expect({ proxied, posts: hook.posts.length }).toEqual({ proxied: [], posts: 1 });
  });

  it('believes no certificate that nobody has signed', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'push-tls-'));
    ended.push(async () => rmSync(folder, { recursive: true }));
    const [keyFile, certFile] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
    const subject = ['-subj', '/CN=localhost', '-days', '2'];
    execFileSync(
      'openssl',
      [
        'req',
        '-x509',
        '-newkey',
        'ec',
        '-pkeyopt',
        'ec_paramgen_curve:P-256',
        '-nodes',
        '-keyout',
        keyFile,
        '-out',
        certFile,
        ...subject,
      ],
      { stdio: 'ignore' },
    );
    let posts = 0;
    const server = createTlsServer(
      { key: readFileSync(keyFile), cert: readFileSync(certFile) },
      (_request, response) => {
        posts += 1;
        response.end();
      },
    );
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    ended.push(() => new Promise((resolve) => server.close(resolve)));
    const { port } = server.address() as AddressInfo;
    const fetch = fetchWith({ allowPrivate: only('127.0.0.1') });
    await expect(fetch(post(`https://127.0.0.1:${port}/`))).rejects.toThrow(/self-signed/);
    expect(posts).toBe(0);
  });

  it('waits for no resolver longer than its time', async () => {
    const clock = new FakeClock();
    const fetch = fetchWith({ resolve: () => new Promise(() => undefined) }, clock);
    const asked = fetch(post('https://receiver.example/'));
    void asked.catch(() => undefined);
    await clock.advanceAsync(10_000);
    await expect(asked).rejects.toThrow('within 10000 ms');
    expect(clock.pending).toBe(0);
  });

  it('lets go at once when it is told to', async () => {
    const hook = await receiver();
    hook.answer = () => undefined;
    const giveUp = new AbortController();
    const fetch = fetchWith({ allowHttp: true, allowPrivate: only('127.0.0.1') });
    const asked = fetch({ ...post(hook.url), signal: giveUp.signal });
    void asked.catch(() => undefined);
    await hook.got(1);
    giveUp.abort(new Error('no longer'));
    await expect(asked).rejects.toThrow('no longer');
    await until('a closed connection', () => hook.open === 0);
  });

  it('waits for no receiver that would rather speak another protocol', async () => {
    const hook = await receiver();
    hook.answer = switchProtocols;
    const fetch = fetchWith({ allowHttp: true, allowPrivate: only('127.0.0.1') });
    await expect(fetch(post(hook.url))).rejects.toThrow('another protocol');
    await until('a closed connection', () => hook.open === 0);
  });
});

const switchProtocols: Answer = (_at, { socket }) =>
  void socket?.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n');

describe('hostile configs', () => {
  it('are refused when they are made, where that can be known', async () => {
    const pushed = await PushedTasks.start({
      targets: { resolve: async () => ['10.0.0.1'], allowPrivate: () => false },
    });
    ended.push(() => pushed.stop());
    const { task } = await pushed.begin();
    for (const url of ['http://169.254.169.254/', 'http://[fd00:ec2::254]/', 'https://inside.example/']) {
      const { code, message } = await rejection(pushed.service.create(ALICE, { taskId: task.id, url }));
      expect({ code, message }).toEqual({
        code: 'INVALID_PAYLOAD',
        message: expect.stringContaining(`url is "${url}"`),
      });
    }
    expect(pushed.service.counts.configs).toBe(0);
  });

  it('are looked at again whenever they are used: a name that has moved inside is given up on, for everybody to see', async () => {
    const hook = await receiver();
    let lookUps = 0;
    const resolve = async (): Promise<readonly string[]> => [lookUps++ === 0 ? '93.184.216.34' : '127.0.0.1'];
    const pushed = await PushedTasks.start({ targets: { resolve, allowPrivate: () => false } });
    ended.push(() => pushed.stop());
    const { task, end } = await pushed.begin();
    const url = `http://moving.example:${hook.port}/`;
    await pushed.service.create(ALICE, { taskId: task.id, url });
    end({ state: 'completed' });
    expect(await pushed.event('gave-up')).toMatchObject({
      security: true,
      attempt: 1,
      origin: new URL(url).origin,
    });
    expect(pushed.service.counts).toMatchObject({ refused: 1, gaveUp: 1 });
    expect(hook.connections).toBe(0);
  });

  it('of names that cannot be looked up now are taken, and tried', async () => {
    const pushed = await PushedTasks.start({
      targets: { resolve: () => Promise.reject(new Error('SERVFAIL')) },
    });
    ended.push(() => pushed.stop());
    const { task, end } = await pushed.begin();
    await pushed.service.create(ALICE, { taskId: task.id, url: 'https://receiver.example/' });
    end({ state: 'completed' });
    expect(await pushed.event('failed')).toMatchObject({ reason: 'SERVFAIL' });
  });

  it('whose receivers answer in another protocol have failed, and hold up nobody who closes', async () => {
    const hook = await receiver();
    hook.answer = switchProtocols;
    const pushed = await PushedTasks.start();
    ended.push(() => pushed.stop());
    const { task, end } = await pushed.begin();
    await pushed.service.create(ALICE, { taskId: task.id, url: hook.url });
    end({ state: 'completed' });
    expect(await pushed.event('failed')).toMatchObject({
      reason: expect.stringContaining('another protocol'),
    });
  });
});
