import { createHash } from 'node:crypto';
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';

/**
 * A job that never changes: does a fixed piece of work again and again for so long, and says how many pieces a second it did.
 * Whoever changes one makes former calibrations worthless, and gives it another name.
 */
export type CalibrationJob = (forMs: number) => Promise<number>;

const KIB = 1_024;
const MIB = 1_024 * KIB;
const IN_FLIGHT = 32;
const PIECES_A_LOOK = 4;

/** Does `piece` until the time is over. */
const repeated =
  (piece: () => unknown): CalibrationJob =>
  async (forMs) => {
    const startMs = performance.now();
    let pieces = 0;
    let elapsedMs = 0;
    while (elapsedMs < forMs) {
      for (let left = PIECES_A_LOOK; left > 0; left--) piece();
      pieces += PIECES_A_LOOK;
      elapsedMs = performance.now() - startMs;
    }
    return (pieces * 1_000) / elapsedMs;
  };

const block = Buffer.alloc(64 * KIB, 7);
const hash = repeated(() => createHash('sha256').update(block).digest());

const records = Array.from({ length: 100 }, (_, at) => ({
  id: `record-${at}`,
  kind: ['one', 'two', 'three'][at % 3],
  value: at / 7,
  tags: [`tag-${at % 5}`, `tag-${at % 11}`],
  isOpen: at % 2 === 0,
}));
const json = repeated(() => JSON.parse(JSON.stringify(records)));

/** Larger than the caches that belong to one core. */
const from = Buffer.alloc(8 * MIB, 1);
const to = Buffer.alloc(8 * MIB);
const copy = repeated(() => from.copy(to));

/** Small objects that live shortly, and a table of them: what is collected, and looked up. */
const objects = repeated(() => {
  const table = new Map<string, { readonly at: number; readonly next: number }>();
  for (let at = 0; at < 500; at++) table.set(`key-${at}`, { at, next: at + 1 });
  let sum = 0;
  for (let at = 0; at < 500; at++) sum += table.get(`key-${at}`)?.next ?? 0;
  return sum;
});

let echo: MessagePort | undefined;

/** Messages to another thread and back, so many under way that no thread sleeps. */
const messages: CalibrationJob = async (forMs) => {
  echo ??= openEcho();
  await back(echo, 1, 0);
  const startMs = performance.now();
  const count = await back(echo, IN_FLIGHT, forMs);
  return (count * 1_000) / (performance.now() - startMs);
};

/** A port to a thread that ends with this one. */
function openEcho(): MessagePort {
  const { port1, port2 } = new MessageChannel();
  const module = new URL('./echo.worker.ts', import.meta.url);
  new Worker(module, { workerData: port2, transferList: [port2] });
  return port1;
}

/** How many have come back when the time is over. */
function back(port: MessagePort, inFlight: number, forMs: number): Promise<number> {
  const startMs = performance.now();
  return new Promise((resolve) => {
    let count = 0;
    port.on('message', (message) => {
      count += 1;
      if (performance.now() - startMs < forMs) port.postMessage(message);
      else if (--inFlight === 0) {
        port.removeAllListeners('message');
        resolve(count);
      }
    });
    for (let sent = inFlight; sent > 0; sent--) port.postMessage({ id: 'message', at: sent });
  });
}

/** By their names in the results. */
export const CALIBRATION_JOBS = { hash, json, copy, objects, messages } satisfies Record<
  string,
  CalibrationJob
>;
export type CalibrationJobName = keyof typeof CALIBRATION_JOBS;
