import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { MissionControl } from '@orrery/ralph-loop';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MissionOrders } from '../../missions/mission-orders.ts';
import { NotAnswered, orderRun, stateOf } from '../../missions/order-run.ts';
import { foreignSocket, ordersSocket } from '../../missions/orders-place.ts';
import type { RunRecord } from '../../missions/run-record.ts';
import { askAt } from '../../order-socket.ts';
import { UsageError } from '../../usage-error.ts';

const place = { root: '/r', mission: 'Spring clean' };
const record: RunRecord = {
  ...{ version: 1, ...place, folder: '/r', journal: '/j', options: {}, leftOut: [], startedAtMs: 0 },
  process: { pid: 77 },
};
const pause = { type: 'pause', by: 'ada' } as const;

let folder: string;
let socket: string;
let heard: string[];
let opened: Disposable[];
const before = process.env['XDG_RUNTIME_DIR'];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'orrery-orders-'));
  process.env['XDG_RUNTIME_DIR'] = folder;
  socket = ordersSocket(place, process.env);
  [heard, opened] = [[], []];
});
afterEach(() => {
  for (const one of opened) one[Symbol.dispose]();
  if (before === undefined) delete process.env['XDG_RUNTIME_DIR'];
  else process.env['XDG_RUNTIME_DIR'] = before;
  rmSync(folder, { recursive: true, force: true });
});

const control: MissionControl = {
  pause: (by) => heard.push(`pause ${by}`) > 0,
  goOn: () => true,
  skip: () => true,
  approve: () => true,
};

async function listening(patienceMs?: number): Promise<MissionOrders> {
  const orders = await MissionOrders.open({
    ...{ mission: place.mission, socket, stop: (by: string) => heard.push(`stop ${by}`) },
    ...(patienceMs === undefined ? {} : { patienceMs }),
  });
  opened.push(orders);
  orders.attach(control);
  return orders;
}

/** Somebody who says something else than requests. Resolves to what is answered until the connection is over. */
async function says(text: string): Promise<string> {
  const caller = connect(socket);
  let answer = '';
  caller.setEncoding('utf8').on('data', (part: string) => {
    answer += part;
  });
  caller.write(text);
  await closed(caller);
  return answer;
}

/** Resolves when a connection is over, however it ends. */
function closed(caller: Socket): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  caller.on('error', () => undefined).once('close', () => resolve());
  return promise;
}

describe('a process that listens for orders', () => {
  it('has its socket where nobody but its user can enter, and none when it is over', async () => {
    const orders = await listening();
    expect(statSync(dirname(socket)).mode & 0o777).toBe(0o700);
    expect(await orderRun(record, pause)).toContain('is paused');
    expect(heard).toEqual(['pause ada']);
    orders[Symbol.dispose]();
    expect(existsSync(socket)).toBe(false);
    await expect(orderRun(record, pause)).rejects.toThrow(
      new NotAnswered('The process 77 of "Spring clean" does not answer: it listens nowhere'),
    );
  });

  it('is the only one at its place, which it takes over from one that was killed', async () => {
    await listening();
    await expect(listening()).rejects.toThrow(
      `Another process listens for orders to "Spring clean" already, at ${socket}`,
    );
    opened.pop()?.[Symbol.dispose]();
    const dead = createServer().listen(socket);
    await once(dead, 'listening');
    // Its file stays, as of a process that is gone.
    const kept = `${socket}.kept`;
    linkSync(socket, kept);
    dead.close();
    await once(dead, 'close');
    renameSync(kept, socket);
    await listening();
    expect(await orderRun(record, pause)).toContain('is paused');
  });

  it('stops once, whoever says it', async () => {
    await listening();
    const stop = { type: 'stop', by: 'ada' } as const;
    expect(await orderRun(record, stop)).toBe('"Spring clean" is being stopped');
    await expect(orderRun(record, stop)).rejects.toThrow('it is being stopped already');
    expect(heard).toEqual(['stop ada']);
  });

  it('refuses orders once the mission is over, while its process still lives', async () => {
    const orders = await listening();
    orders.hear({ type: 'mission.ended', stopReason: 'all-accepted', atMs: 0 });
    await expect(orderRun(record, pause)).rejects.toThrow(
      new UsageError('"Spring clean": it is over: all-accepted'),
    );
    expect(heard).toEqual([]);
  });

  it('goes on listening whatever is said to it', async () => {
    await listening();
    await expect(askAt(socket, 'explode', {})).rejects.toThrow('No order "explode"');
    for (const given of [null, 'x', [], 7, { by: 7 }, { by: 'ada', __proto__: null, more: 1 }])
      await expect(askAt(socket, 'pause', given)).rejects.toThrow('No order "pause"');
    await expect(askAt(socket, 'pause', { by: 'x'.repeat(70_000) })).rejects.toThrow('more than 65536');
    const texts = [
      '{"type":"stop"}\n'.repeat(1_000),
      `POST /stop HTTP/1.1\r\nx: ${'y'.repeat(100_000)}\r\n\r\n`,
      'POST /stop HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: 5\r\n\r\n{"by"',
    ];
    for (const text of texts) expect(await says(text)).not.toContain('HTTP/1.1 200');
    expect(heard).toEqual([]);
    expect(await orderRun(record, pause)).toContain('is paused');
  });

  it('cuts off a request that never ends, and one that never begins', async () => {
    await listening(200);
    const unended = ['', 'POST /stop', 'POST /stop HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\n{'];
    await Promise.all(unended.map(says));
    expect(heard).toEqual([]);
    expect(await orderRun(record, pause)).toContain('is paused');
  });

  it('is still there after a flood of callers', async () => {
    await listening(200);
    const callers = Array.from({ length: 300 }, () => closed(connect(socket).resume()));
    await Promise.all(callers);
    expect(await stateOf(record)).toMatchObject({ tasks: [] });
  });

  it('cannot listen where its path would be too long, or its folder is a link', async () => {
    const long = join(folder, 'x'.repeat(100), 'a.sock');
    const open = (path: string) => MissionOrders.open({ mission: 'm', socket: path, stop: () => undefined });
    await expect(open(long)).rejects.toThrow('its path has more than 103 bytes');
    symlinkSync(folder, join(folder, 'link'));
    await expect(open(join(folder, 'link', 'a.sock'))).rejects.toThrow('it is no folder');
  });
});

describe('a socket of somebody else', () => {
  const anybody = async (): Promise<void> => {
    mkdirSync(dirname(socket), { recursive: true, mode: 0o700 });
    const server = createServer((caller) => {
      heard.push('called');
      caller.end();
    }).listen(socket);
    await once(server, 'listening');
    opened.push({ [Symbol.dispose]: () => server.close() });
  };

  it('is told nothing', async () => {
    await anybody();
    const uid = process.getuid?.() ?? 0;
    expect(foreignSocket(socket, uid)).toBeUndefined();
    expect(foreignSocket(socket, uid + 1)).toBe(`${dirname(socket)} is somebody else's`);
    chmodSync(dirname(socket), 0o755);
    await expect(orderRun(record, pause)).rejects.toThrow(
      `does not answer: others can enter ${dirname(socket)}`,
    );
    chmodSync(dirname(socket), 0o700);
    expect(heard).toEqual([]);
  });

  // Only root can give a file away.
  it.runIf(process.getuid?.() === 0)('is told nothing where only the socket is', async () => {
    await anybody();
    chownSync(socket, 65_534, 65_534);
    await expect(orderRun(record, pause)).rejects.toThrow(`does not answer: ${socket} is somebody else's`);
    expect(heard).toEqual([]);
  });

  it('that hangs up or answers nonsense is one that does not answer', async () => {
    await anybody();
    await expect(orderRun(record, pause)).rejects.toThrow(NotAnswered);
    expect(heard).toEqual(['called']);
  });
});
