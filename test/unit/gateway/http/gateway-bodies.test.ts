import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { until } from '../../../fixtures/until.ts';
import { errorOf, rig } from './gateway-rig.ts';

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

  it('has so many members and no more, counted while they come, and not in texts', async () => {
    const { ask } = rig({ limits: { maxKeys: 3, maxElements: 4 } });
    const fitting = '{"a":[1,2,3,4],"b":{"c":"[,,,,:{\\\\\\"{:,,,"}}';
    expect((await ask('/size', post(fitting))).status).toBe(200);
    for (const [body, what] of [
      ['{"a":1,"b":{"c":2,"d":3}}', '3 object keys'],
      ['[1,[2,3,4]]', '4 array elements'],
      ['[[],[],[],[]]', '4 array elements'],
    ] as const) {
      const answer = await ask('/size', post(body));
      expect(answer.status).toBe(413);
      expect(await errorOf(answer)).toEqual({
        code: 'BODY_TOO_LARGE',
        message: `The body of the request has more than ${what}`,
      });
    }
  });

  it('of a million keys without end is left unread behind the 20,000th', async () => {
    const { ask } = rig();
    let sent = 0;
    const endless = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        sent += 1_000;
        controller.enqueue(Buffer.from('{"a":'.repeat(1_000)));
      },
    });
    expect((await ask('/size', post(endless))).status).toBe(413);
    expect(sent).toBeLessThan(25_000);
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
