import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { unauthenticated } from '../../../../../runtime/protocol/edge-errors.ts';
import { ANONYMOUS } from '../../../../../runtime/protocol/principal.ts';
import { createGateway } from '../../../../../transports/gateway/http/gateway.ts';
import type { GatewayFault, GatewayOptions } from '../../../../../transports/gateway/http/gateway-options.ts';
import type { GatewayPart } from '../../../../../transports/gateway/http/gateway-part.ts';
import { FakeClock } from '../../../../fixtures/fake-clock.ts';
import { trialPart } from '../../../../fixtures/trial-part.ts';
import { until } from '../../../../fixtures/until.ts';

function rig(options: Partial<GatewayOptions> = {}) {
  const clock = new FakeClock();
  let ids = 0;
  const faults: GatewayFault[] = [];
  const trial = trialPart();
  const gateway = createGateway({
    parts: [trial.part],
    admit: async () => ANONYMOUS,
    seams: {
      clock,
      ids: { origin: 'test', next: () => ++ids },
      newId: () => `id-${++ids}`,
      newSecret: () => 'secret',
      random: () => 0.5,
    },
    onFault: (fault) => faults.push(fault),
    ...options,
  });
  const ask = (path: string, init: RequestInit = {}, host = 'localhost') =>
    gateway.fetch(new Request(`http://${host}${path}`, init));
  return { ...trial, gateway, clock, faults, ask };
}

/** Streams whatever the gateway says. */
const deafPart: GatewayPart = {
  name: 'deaf',
  routes: [],
  mount: (app) => {
    app.get('/deaf', () => {
      const body = new ReadableStream({ pull: () => new Promise(() => undefined) });
      return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
    });
  },
};

const errorOf = async (response: Response) => ((await response.json()) as { error: unknown }).error;

describe('A gateway (DESIGN 8)', () => {
  it('hands requests to the part that they are for, and says what it serves', async () => {
    const { ask, gateway } = rig();
    const answer = await ask('/echo', { method: 'POST', body: 'hello' });
    expect(answer.status).toBe(200);
    expect(await answer.text()).toBe('hello');
    expect(gateway.routes).toEqual([{ method: 'POST', path: '/echo', serves: 'an echo' }]);
  });

  it('answers every HEAD as its GET, without a body', async () => {
    const answer = await rig().ask('/agents/mars', { method: 'HEAD' });
    expect(answer.status).toBe(200);
    expect(await answer.text()).toBe('');
  });

  it('puts headers on every answer that keep a browser from making something else of it', async () => {
    const { ask } = rig();
    for (const path of ['/agents/mars', '/nothing', '/throws']) {
      const { headers } = await ask(path);
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('content-security-policy')).toContain("default-src 'none'");
      expect(headers.get('cache-control')).toBe('no-store');
    }
  });

  it("names each request, by its caller's name when that is harmless", async () => {
    const { ask } = rig();
    const named = await ask('/agents/mars', { headers: { 'x-request-id': 'trace-7.1' } });
    expect(named.headers.get('x-request-id')).toBe('trace-7.1');
    const odd = await ask('/agents/mars', { headers: { 'x-request-id': 'a<script>' } });
    expect(odd.headers.get('x-request-id')).toMatch(/^id-\d+$/);
  });
});

describe('What a gateway does not serve is answered as JSON (DESIGN 8)', () => {
  it('a path', async () => {
    const answer = await rig().ask('/nothing/here');
    expect(answer.status).toBe(404);
    expect(await errorOf(answer)).toEqual({
      code: 'NO_SUCH_PATH',
      message: 'Nothing is served under this path',
    });
  });

  it('a method, with those that there are', async () => {
    const answer = await rig().ask('/agents/mars', { method: 'DELETE' });
    expect(answer.status).toBe(405);
    expect(answer.headers.get('allow')).toBe('HEAD, GET, PUT');
    expect(await errorOf(answer)).toMatchObject({ code: 'METHOD_NOT_ALLOWED' });
  });

  it('a handler that throws: nothing of it is told but to the operator', async () => {
    const { ask, faults } = rig();
    const answer = await ask('/throws', { headers: { 'x-request-id': 'r1' } });
    expect(answer.status).toBe(500);
    expect(JSON.stringify(await errorOf(answer))).not.toContain('secret');
    expect(faults).toMatchObject([{ requestId: 'r1', method: 'GET', path: '/throws' }]);
    expect(faults.map(({ error }) => (error as Error).message)).toEqual(['the secret is 42']);
  });

  it("an error that is the caller's, with its code and sentence", async () => {
    const { ask, faults } = rig();
    const answer = await ask('/refuses');
    expect(answer.status).toBe(400);
    expect(await errorOf(answer)).toMatchObject({
      code: 'INVALID_PAYLOAD',
      message: expect.stringContaining('id: expected a text') as string,
    });
    expect(faults).toEqual([]);
  });

  it('a body in an encoding, which could be a small one of a large one', async () => {
    const init = { method: 'POST', body: 'x', headers: { 'content-encoding': 'gzip' } };
    const answer = await rig().ask('/echo', init);
    expect(answer.status).toBe(415);
    expect(await errorOf(answer)).toMatchObject({ code: 'UNSUPPORTED_ENCODING' });
    const plain = await rig().ask('/echo', { ...init, headers: { 'content-encoding': 'identity' } });
    expect(plain.status).toBe(200);
  });
});

describe('A body (DESIGN 8)', () => {
  const chunks = (...sizes: number[]): ReadableStream<Uint8Array> =>
    new ReadableStream({
      start: (controller) => {
        for (const size of sizes) controller.enqueue(new Uint8Array(size));
        controller.close();
      },
    });
  const post = (body: string | ReadableStream, headers: Record<string, string> = {}): RequestInit =>
    ({ method: 'POST', body, headers, duplex: 'half' }) as RequestInit;

  it('may be as large as the limit, and no larger, with and without a length', async () => {
    const { ask } = rig({ limits: { maxBodyBytes: 1_000 } });
    expect((await ask('/size', post(chunks(400, 600)))).status).toBe(200);
    expect((await ask('/size', post('x'.repeat(1_000)))).status).toBe(200);
    for (const init of [
      post(chunks(400, 601)),
      post('x'.repeat(1_001)),
      post(chunks(1), { 'content-length': '1001' }),
    ]) {
      const answer = await ask('/size', init);
      expect(answer.status).toBe(413);
      expect(await errorOf(answer)).toEqual({
        code: 'BODY_TOO_LARGE',
        message: 'The body of the request is larger than 1000 bytes',
      });
    }
  });

  it('of 20 MB is read by default, and one without end is not', async () => {
    const { ask, gateway } = rig();
    expect(await (await ask('/size', post(chunks(...Array(20).fill(1_000_000))))).json()).toEqual({
      bytes: 20_000_000,
    });
    let sent = 0;
    const endless = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        sent += 1_000_000;
        controller.enqueue(new Uint8Array(1_000_000));
      },
    });
    expect((await ask('/size', post(endless))).status).toBe(413);
    expect(sent).toBeLessThan(40_000_000);
    expect(await gateway.metrics.text()).toContain('orrery_gateway_bytes_in_hand 0');
  });

  it.each([
    ['more than it says', 10, '5'],
    ['less than it says', 10, '20'],
    ['of a length that is none', 10, '1e1'],
  ])('that is %s is refused', async (_, size, length) => {
    const answer = await rig().ask('/size', post(chunks(size), { 'content-length': length }));
    expect(answer.status).toBe(400);
    expect(await errorOf(answer)).toMatchObject({ code: 'INVALID_OPTIONS' });
  });

  it('that is cut off is refused', async () => {
    let pulls = 0;
    const broken = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        if (pulls++ === 0) controller.enqueue(new Uint8Array(3));
        else controller.error(new Error('reset'));
      },
    });
    const answer = await rig().ask('/size', post(broken));
    expect(answer.status).toBe(400);
    expect(await errorOf(answer)).toEqual({
      code: 'INVALID_OPTIONS',
      message: 'body is "3 bytes", expected a body that is not cut off',
    });
  });

  it('waits for room when too much is held at once', async () => {
    const { ask, gateway } = rig({ limits: { maxBytesInHand: 1_500 } });
    let more: () => void = () => undefined;
    const slow = new ReadableStream<Uint8Array>({
      start: (controller) => {
        controller.enqueue(new Uint8Array(1_000));
        more = () => controller.close();
      },
    });
    const first = ask('/size', post(slow));
    await gateway.metrics.text();
    const second = await ask('/size', post('x'.repeat(600)));
    expect(second.status).toBe(429);
    expect(second.headers.get('retry-after')).toBe('1');
    more();
    expect((await first).status).toBe(200);
    expect((await ask('/size', post('x'.repeat(600)))).status).toBe(200);
  });

  it('leaves as much room for all others as one address has, which has room for one body', async () => {
    const { gateway } = rig({ limits: { maxBytesInHand: 4_000, maxBodyBytes: 1_500 } });
    const upload = (address: string, bytes: number) => {
      const body = new PassThrough();
      body.write(Buffer.alloc(bytes));
      const asked = new Request('http://localhost/size', post('x'));
      return { body, answer: gateway.handle(asked, { body, address, cut: () => undefined }) };
    };
    const statusOf = async ({ body, answer }: ReturnType<typeof upload>): Promise<number> => {
      body.end();
      return (await answer).status;
    };
    const slow = [upload('192.0.2.1', 1_000), upload('192.0.2.1', 1_000)];
    await until('both are held', async () => (await gateway.metrics.text()).includes('bytes_in_hand 2000'));
    expect(await statusOf(upload('192.0.2.1', 600))).toBe(429);
    expect(await statusOf(upload('192.0.2.2', 1_500))).toBe(200);
    for (const one of slow) expect(await statusOf(one)).toBe(200);
    expect(await statusOf(upload('192.0.2.1', 600))).toBe(200);
    const small = rig({ limits: { maxBytesInHand: 1_500, maxBodyBytes: 1_500 } }).gateway;
    const body = new PassThrough().end(Buffer.alloc(1_500));
    const whole = new Request('http://localhost/size', post('x'));
    expect((await small.handle(whole, { body, address: '192.0.2.1', cut: () => undefined })).status).toBe(
      200,
    );
  });
});

describe('A stream that was asked for with a body (DESIGN 8)', () => {
  it('holds nothing of it while it goes on', async () => {
    const { ask, gateway } = rig();
    const answer = await ask('/stream', { method: 'POST', body: 'x'.repeat(1_000) });
    expect(await gateway.metrics.text()).toContain('orrery_gateway_open_streams 1');
    expect(await gateway.metrics.text()).toContain('orrery_gateway_bytes_in_hand 0');
    await answer.body?.cancel();
  });
});

describe('Names and pages (DESIGN 8)', () => {
  it.each([
    'localhost',
    'localhost:4000',
    '127.0.0.1',
    '127.8.9.1:80',
    '[::1]:4000',
    '10.1.2.3',
    'x.localhost',
  ])('is reached as %s', async (host) => {
    expect((await rig().ask('/agents/mars', {}, host)).status).toBe(200);
  });

  it.each([
    'evil.example',
    'evillocalhost',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    'evil.example:4000',
  ])('is not reached as %s, which somebody else may lead here (DNS rebinding)', async (host) => {
    const answer = await rig().ask('/agents/mars', {}, host);
    expect(answer.status).toBe(421);
    expect(await errorOf(answer)).toMatchObject({ code: 'HOST_NOT_SERVED' });
  });

  it('is reached under the names that it is given, or any', async () => {
    const named = rig({ hosts: ['agents.example:8443'], publicUrl: 'https://orrery.example/team/' });
    expect((await named.ask('/agents/mars', {}, 'AGENTS.example')).status).toBe(200);
    expect((await named.ask('/base', {}, 'orrery.example')).status).toBe(200);
    expect((await named.ask('/agents/mars', {}, 'other.example')).status).toBe(421);
    expect(await (await named.ask('/base')).text()).toBe('https://orrery.example/team');
    expect((await rig({ hosts: 'any' }).ask('/agents/mars', {}, 'other.example')).status).toBe(200);
    expect(await (await rig().ask('/base', {}, '127.0.0.1:81')).text()).toBe('http://127.0.0.1:81');
  });

  it('refuses pages of other origins, and lets those in that it is told of', async () => {
    const { ask } = rig({ origins: ['https://app.example'] });
    for (const origin of ['https://evil.example', 'null', 'https://app.example.evil.example']) {
      const answer = await ask('/agents/mars', { headers: { origin } });
      expect(answer.status).toBe(403);
      expect(answer.headers.get('access-control-allow-origin')).toBeNull();
    }
    const allowed = await ask('/agents/mars', { headers: { origin: 'https://app.example' } });
    expect(allowed.status).toBe(200);
    expect(allowed.headers.get('access-control-allow-origin')).toBe('https://app.example');
    expect(allowed.headers.get('vary')).toBe('Origin');
    const own = await ask('/agents/mars', { headers: { origin: 'http://localhost' } });
    expect(own.status).toBe(200);
    expect(own.headers.get('access-control-allow-origin')).toBeNull();
  });

  it('takes pages of its public URL for its own, which a proxy passes on as something else', async () => {
    const { ask } = rig({ publicUrl: 'https://orrery.example/team' });
    const from = (origin: string) => ask('/agents/mars', { headers: { origin } }, 'orrery.example');
    const own = await from('https://orrery.example');
    expect(own.status).toBe(200);
    expect(own.headers.get('access-control-allow-origin')).toBeNull();
    for (const origin of ['https://orrery.example:444', 'https://app.orrery.example', 'undefined'])
      expect((await from(origin)).status).toBe(403);
  });

  it('answers a browser that asks first, for the same pages only', async () => {
    const { ask } = rig({ origins: ['https://app.example'] });
    const preflight = (origin: string) =>
      ask('/echo', {
        method: 'OPTIONS',
        headers: {
          origin,
          'access-control-request-method': 'POST',
          'access-control-request-headers': 'authorization, content-type',
        },
      });
    const yes = await preflight('https://app.example');
    expect(yes.status).toBe(204);
    expect(yes.headers.get('access-control-allow-origin')).toBe('https://app.example');
    expect(yes.headers.get('access-control-allow-headers')).toBe('authorization, content-type');
    expect((await preflight('https://evil.example')).status).toBe(403);
  });
});

describe('Who comes in (L-10, C-25)', () => {
  it('is asked before anything is done, and those who are refused learn how to prove who they are', async () => {
    const { ask } = rig({
      schemes: ['Bearer', 'ApiKey'],
      admit: async ({ headers }) => {
        if (headers.get('authorization') !== 'Bearer good') throw unauthenticated('it has no credentials');
        return { ...ANONYMOUS, id: 'jwt:x', kind: 'user' };
      },
    });
    const refused = await ask('/who');
    expect(refused.status).toBe(401);
    expect(refused.headers.get('www-authenticate')).toBe('Bearer, ApiKey');
    const known = await ask('/who', { headers: { authorization: 'Bearer good' } });
    expect(await known.json()).toMatchObject({ id: 'jwt:x' });
  });
});

describe('Streams and the end (DESIGN 8)', () => {
  it('a stream says its last when the gateway closes, and new requests are turned away', async () => {
    const { ask, gateway, streams } = rig();
    const answer = await ask('/stream');
    expect(await gateway.metrics.text()).toContain('orrery_gateway_open_streams 1');
    const reading = answer.text();
    await gateway.close({ drainMs: 60_000 });
    expect(await reading).toBe('data: tick\n\ndata: last\n\n');
    expect(streams).toEqual({ begun: 1, ended: 1 });
    const late = await ask('/agents/mars');
    expect(late.status).toBe(503);
    expect(late.headers.get('connection')).toBe('close');
    expect(await errorOf(late)).toMatchObject({ code: 'SYSTEM_STOPPED' });
  });

  it('a stream that nobody reads on is over', async () => {
    const { ask, gateway, streams } = rig();
    const answer = await ask('/stream');
    const reader = (answer.body as ReadableStream).getReader();
    await reader.read();
    await reader.cancel();
    expect(await gateway.metrics.text()).toContain('orrery_gateway_open_streams 0');
    expect(streams.begun).toBe(1);
    expect(await gateway.metrics.text()).toContain('orrery_gateway_requests_in_hand 0');
  });

  it('waits for what is in hand, and no longer than it may', async () => {
    const { ask, gateway, clock, release } = rig();
    const first = ask('/waits');
    let isClosed = false;
    const closing = gateway.close({ drainMs: 5_000 }).then(() => {
      isClosed = true;
    });
    await clock.advanceAsync(4_999);
    expect(isClosed).toBe(false);
    release();
    expect(await (await first).text()).toBe('done');
    await closing;
    const other = rig();
    void other.ask('/waits');
    const late = other.gateway.close({ drainMs: 5_000 });
    await other.clock.advanceAsync(5_000);
    await late;
    expect(other.clock.pending).toBe(0);
  });

  it('requests are bounded: whoever comes beyond that is told to come again', async () => {
    const { ask, release } = rig({ limits: { maxRequests: 1 } });
    const first = ask('/waits');
    const second = await ask('/agents/mars');
    expect(second.status).toBe(429);
    expect(second.headers.get('retry-after')).toBe('1');
    expect(await errorOf(second)).toMatchObject({ code: 'RATE_LIMITED' });
    release();
    expect(await (await first).text()).toBe('done');
    expect((await ask('/agents/mars')).status).toBe(200);
  });

  it('streams that take longer than they may are cut, and do not look whole', async () => {
    const deaf = rig({ parts: [deafPart] });
    const answer = await deaf.ask('/deaf');
    const reading = answer.text();
    const closing = deaf.gateway.close({ drainMs: 1_000 });
    await deaf.clock.advanceAsync(1_000);
    await expect(reading).rejects.toThrow('The stream was cut');
    await closing;
  });

  it('a stream that fails in the middle is told of to the operator alone, and does not look whole', async () => {
    const { ask, faults, release } = rig();
    const answer = await ask('/breaks');
    release();
    await expect(answer.text()).rejects.toThrow('The stream was cut');
    expect(faults).toHaveLength(1);
  });
});

describe('What is counted', () => {
  it('is by the pattern of the route, not by what somebody typed', async () => {
    const { ask, gateway } = rig();
    await ask('/agents/mars');
    await ask('/agents/venus');
    await ask('/nothing/at/all');
    await ask('/nothing/else');
    await ask('/agents/mars', { method: 'BREW' });
    const text = await gateway.metrics.text();
    expect(text).toContain('orrery_gateway_requests_total{route="/agents/:id",method="GET",status="200"} 2');
    expect(text).toContain('orrery_gateway_requests_total{route="none",method="GET",status="404"} 2');
    expect(text).toContain('orrery_gateway_requests_total{route="none",method="other",status="405"} 1');
    expect(text).toContain('orrery_gateway_refusals_total{code="NO_SUCH_PATH"} 2');
    expect(text).not.toContain('venus');
  });
});

describe('Options', () => {
  it.each([
    [{ limits: { maxBodyBytes: 0 } }, 'limits.maxBodyBytes is 0'],
    [{ limits: { maxBodies: 1 } }, 'limits.maxBodies is 1, expected no option of this name'],
    [{ origins: ['app.example'] }, 'origins[0] is "app.example", expected an origin'],
    [{ publicUrl: 'agents' }, 'publicUrl is "agents", expected the URL of the gateway'],
  ])('%j is refused', (options, message) => {
    expect(() => rig(options as Partial<GatewayOptions>)).toThrow(message);
  });
});
