import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { unauthenticated } from '../../../../runtime/protocol/edge-errors.ts';
import { ANONYMOUS } from '../../../../runtime/protocol/principal.ts';
import type { GatewayOptions } from '../../../../gateway/http/gateway-options.ts';
import type { GatewayPart } from '../../../../gateway/http/gateway-part.ts';
import { trialPart } from '../../../fixtures/trial-part.ts';
import { errorOf, rig } from './gateway-rig.ts';

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

  it('treats a HEAD as its GET in all else: who called, under what name, and how it is counted', async () => {
    const seen: GatewayPart = {
      name: 'seen',
      routes: [],
      mount: (app, { addressOf }) => {
        app.get(
          '/from',
          ({ req }) => new Response('', { headers: { 'x-from': addressOf(req.raw) ?? 'nobody' } }),
        );
      },
    };
    const { gateway, faults, ask } = rig({ parts: [seen, trialPart().part] });
    const head = (path: string) => new Request(`http://localhost${path}`, { method: 'HEAD' });
    const peer = { body: Readable.from([]), address: '192.0.2.7', cut: () => undefined };
    expect((await gateway.handle(head('/from'), peer)).headers.get('x-from')).toBe('192.0.2.7');
    await ask('/throws', { method: 'HEAD', headers: { 'x-request-id': 'r1' } });
    expect(faults).toMatchObject([{ requestId: 'r1' }]);
    expect((await gateway.handle(head('/nothing'), peer)).status).toBe(404);
    const text = await gateway.metrics.text();
    expect(text).toContain('route="/from",method="HEAD",status="200"');
    expect(text).toContain('route="none",method="HEAD",status="404"');
    expect(text).toContain('orrery_gateway_requests_in_hand 0');
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
      message: 'Nothing is served under /nothing/here',
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
