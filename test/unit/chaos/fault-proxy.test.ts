import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { FaultProxy } from '../../fixtures/fault-proxy.ts';
import { lengthPrefixed, lines } from '../../fixtures/faulty-pipe.ts';
import { seededRandom } from '../../fixtures/seeded-random.ts';
import { until } from '../../fixtures/until.ts';

/** A socket with what it has heard. */
class Peer {
  readonly socket: Socket;
  heard = '';
  error: string | undefined;
  hasEnded = false;

  constructor(socket: Socket) {
    this.socket = socket.setEncoding('latin1');
    socket.on('data', (text: string) => {
      this.heard += text;
    });
    socket.on('end', () => {
      this.hasEnded = true;
    });
    socket.on('error', ({ code }: NodeJS.ErrnoException) => {
      this.error = code;
    });
  }

  hears(text: string): Promise<unknown> {
    return until(`"${text}" is heard`, () => this.heard === text);
  }
}

let clock: FakeClock;
let target: Server;
let proxy: FaultProxy;
const accepted: Peer[] = [];

async function open(seed = 1): Promise<void> {
  clock = new FakeClock();
  target = createServer({ allowHalfOpen: true }, (socket) => accepted.push(new Peer(socket)));
  target.listen(0, '127.0.0.1');
  await once(target, 'listening');
  const { port } = target.address() as { port: number };
  proxy = await FaultProxy.listen({ target: { port }, clock, random: seededRandom(seed), framing: lines });
}

/** Both ends of a connection through the proxy. */
async function pair(): Promise<{ client: Peer; server: Peer }> {
  const before = accepted.length;
  const client = new Peer(connect({ port: proxy.port, host: '127.0.0.1', allowHalfOpen: true }));
  const server = await until('it is accepted', () => accepted[before]);
  return { client, server };
}

async function close(): Promise<void> {
  await proxy[Symbol.asyncDispose]();
  for (const { socket } of accepted) socket.destroy();
  accepted.length = 0;
  target.close();
}

beforeEach(() => open());
afterEach(close);

describe('A proxy without faults', () => {
  it('carries both ways what comes, whatever it is, and the end of each direction by itself', async () => {
    const { client, server } = await pair();
    client.socket.write('to the ');
    client.socket.write('target\n');
    await server.hears('to the target\n');
    client.socket.end('a rest without an end');
    await server.hears('to the target\na rest without an end');
    await until('it has ended', () => server.hasEnded);
    server.socket.end('and back\n');
    await client.hears('and back\n');
    await until('both are gone', () => proxy.connections === 0);
    expect([client.error, server.error]).toEqual([undefined, undefined]);
  });

  it('waits for who reads slowly, and loses nothing', async () => {
    const { client, server } = await pair();
    server.socket.pause();
    const text = `${'x'.repeat(99_999)}\n`.repeat(200);
    client.socket.write(text);
    await until('it is held', () => proxy.heldBytes('up') > 0);
    let most = 0;
    for (let turn = 0; turn < 400; turn++) {
      await new Promise((resolve) => setImmediate(resolve));
      most = Math.max(most, proxy.heldBytes('up'));
    }
    expect(most).toBeLessThan(4 << 20);
    expect(client.socket.writableLength).toBeGreaterThan(0);
    server.socket.resume();
    await until('all is heard', () => server.heard.length === text.length);
    expect(server.heard === text).toBe(true);
  });
});

describe('Latency', () => {
  it('keeps each piece for its time, in order, in one direction only', async () => {
    const { client, server } = await pair();
    proxy.set('up', { latencyMs: 50, jitterMs: 30 });
    client.socket.write('one\ntwo\n');
    await until('they are held', () => proxy.heldBytes('up') === 8);
    server.socket.write('down\n');
    await client.hears('down\n');
    clock.advance(49);
    expect([proxy.heldBytes('up'), server.heard]).toEqual([8, '']);
    clock.advance(31);
    await server.hears('one\ntwo\n');
  });

  it('holds back the end of a connection, too', async () => {
    const { client, server } = await pair();
    proxy.set('up', { latencyMs: 50 });
    client.socket.end('last\n');
    await until('it is held', () => proxy.heldBytes('up') === 5);
    proxy.set('up', {});
    clock.advance(50);
    await server.hears('last\n');
    await until('it has ended', () => server.hasEnded);
  });
});

describe('Throttle', () => {
  it('lets so many bytes pass in a second, and no more', async () => {
    const { client, server } = await pair();
    proxy.set('up', { bytesPerSecond: 10 });
    client.socket.write('1234\n1234\n1234\n1234\n');
    await until('they are held', () => proxy.heldBytes('up') === 20);
    clock.advance(499);
    expect(proxy.heldBytes('up')).toBe(20);
    clock.advance(1);
    expect(proxy.heldBytes('up')).toBe(15);
    clock.advance(1_000);
    expect(proxy.heldBytes('up')).toBe(5);
    clock.advance(500);
    await server.hears('1234\n1234\n1234\n1234\n');
  });
});

describe('A cut', () => {
  it('resets both sides, and what was held is gone; who connects again is let in', async () => {
    const { client, server } = await pair();
    proxy.set('up', { latencyMs: 1_000 });
    client.socket.write('gone\n');
    await until('it is held', () => proxy.heldBytes('up') > 0);
    proxy.cut();
    await until('both know', () => client.error !== undefined && server.error !== undefined);
    expect([client.error, server.error]).toEqual(['ECONNRESET', 'ECONNRESET']);
    await until('both are gone', () => proxy.connections === 0);
    clock.advance(2_000);
    expect(server.heard).toBe('');
    proxy.set('both', {});
    const again = await pair();
    again.client.socket.write('here\n');
    await again.server.hears('here\n');
  });

  it('of one side is one of the other', async () => {
    const { client, server } = await pair();
    server.socket.resetAndDestroy();
    await until('it knows', () => client.error);
    expect(client.error).toBe('ECONNRESET');
  });
});

describe('Half-open', () => {
  it('swallows one direction, its end as well, while both sockets stay', async () => {
    const { client, server } = await pair();
    proxy.set('up', { isSwallowing: true });
    client.socket.write('into the void\n');
    await until('it is gone', () => proxy.swallowedBytes('up') === 14);
    server.socket.write('still there?\n');
    await client.hears('still there?\n');
    client.socket.destroy();
    await until('one side is gone', () => {
      server.socket.write('anybody?\n');
      return proxy.sides === 1;
    });
    proxy.set('both', {});
    const another = await pair();
    another.client.socket.write('meanwhile\n');
    await another.server.hears('meanwhile\n');
    expect([server.heard, server.hasEnded, server.error]).toEqual(['', false, undefined]);
  });
});

describe('Refusal', () => {
  it('lets nobody in and keeps who is, until it accepts again at the same port', async () => {
    const { client, server } = await pair();
    const { port } = proxy;
    await proxy.refuse();
    const late = new Peer(connect({ port, host: '127.0.0.1' }));
    await until('it is refused', () => late.error);
    expect(late.error).toBe('ECONNREFUSED');
    client.socket.write('still here\n');
    await server.hears('still here\n');
    await proxy.accept();
    expect(proxy.port).toBe(port);
    const next = await pair();
    next.server.socket.write('welcome\n');
    await next.client.hears('welcome\n');
  });
});

describe('Reordering', () => {
  const frames = Array.from({ length: 40 }, (_, at) => `${at}\n`);

  async function heardUnder(seed: number, chunks: readonly string[]): Promise<string> {
    await close();
    await open(seed);
    const { client, server } = await pair();
    proxy.set('up', { reorder: { probability: 0.3, depth: 3, holdMs: 500 } });
    for (const chunk of chunks) client.socket.write(chunk);
    client.socket.end();
    await until('it has ended', () => server.hasEnded);
    return server.heard;
  }

  it('changes the order of whole frames alone, by no more than its depth, the same for the same seed', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer(), fc.array(fc.nat(150), { maxLength: 6 }), async (seed, cuts) => {
        const text = frames.join('');
        const at = [0, ...cuts.map((cut) => Math.min(cut, text.length)).toSorted((a, b) => a - b)];
        const chunks = at.map((from, index) => text.slice(from, at[index + 1] ?? text.length));
        const heard = await heardUnder(seed, chunks);
        const came = heard.trim().split('\n').map(Number);
        expect(came.toSorted((a, b) => a - b)).toEqual(frames.map(Number));
        for (const [place, n] of came.entries()) {
          const overtakers = came.slice(0, place).filter((earlier) => earlier > n);
          expect(overtakers.length).toBeLessThanOrEqual(3);
        }
        expect(await heardUnder(seed, [text])).toBe(heard);
      }),
      { numRuns: 25 },
    );
  });

  it('really happens', async () => {
    expect(await heardUnder(7, [frames.join('')])).not.toBe(frames.join(''));
  });

  it('does not keep the last frame for ever', async () => {
    const { client, server } = await pair();
    proxy.set('up', { reorder: { probability: 1, depth: 1, holdMs: 500 } });
    client.socket.write('alone\n');
    await until('it is held', () => proxy.heldBytes('up') === 6);
    clock.advance(500);
    await server.hears('alone\n');
  });
});

describe('Framing', () => {
  it('takes whole frames alone, wherever the bytes are cut', () => {
    const frame = (text: string) => Buffer.concat([Buffer.from([0, 0, 0, text.length]), Buffer.from(text)]);
    const all = Buffer.concat([frame('ab'), frame(''), frame('cde')]);
    fc.assert(
      fc.property(fc.nat(all.length), (cut) => {
        const first = lengthPrefixed(all.subarray(0, cut));
        const taken = first.reduce((sum, { length }) => sum + length, 0);
        const rest = lengthPrefixed(all.subarray(taken));
        expect(Buffer.concat([...first, ...rest])).toEqual(all);
        expect([...first, ...rest]).toHaveLength(3);
      }),
    );
    expect(lines(Buffer.from('a\nbc\nd')).map(String)).toEqual(['a\n', 'bc\n']);
  });
});
