import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';
import type { Session } from './measurement.ts';

/** The two worker modules of a peer and what both are told at their start. */
export interface PairOptions<Settings> {
  readonly sender: URL;
  readonly receiver: URL;
  readonly settings: Settings;
}

/** `workerData` of either worker of a pair: its end of the direct port. */
export interface PairEnd<Settings> {
  readonly port: MessagePort;
  readonly settings: Settings;
}

/** What a sender answers to a count when it is through. */
export interface RunEnd {
  readonly error?: string;
}

/** Starts a sender and a receiver thread joined by one port; this thread only says how much and waits for the end. */
export function openPair<Settings>({ sender, receiver, settings }: PairOptions<Settings>): Session {
  const { port1, port2 } = new MessageChannel();
  const startEnd = (module: URL, port: MessagePort): Worker =>
    new Worker(module, { workerData: { port, settings }, transferList: [port] });
  return driveWorkers(startEnd(sender, port1), startEnd(receiver, port2));
}

/** A session whose runs are done by `driver`, a worker that calls `serveRuns`; `others` end with it. */
export function driveWorkers(driver: Worker, ...others: readonly Worker[]): Session {
  const workers = [driver, ...others];
  let settle: ((error?: Error) => void) | undefined;
  driver.on('message', ({ error }: RunEnd) => settle?.(error === undefined ? undefined : new Error(error)));
  for (const worker of workers) {
    worker.on('error', (error) => settle?.(error instanceof Error ? error : new Error(String(error))));
    worker.on('exit', (code) => settle?.(new Error(`A worker exited with ${code}`)));
  }
  return {
    run: (count) =>
      new Promise((resolve, reject) => {
        settle = (error) => (error === undefined ? resolve() : reject(error));
        driver.postMessage(count);
      }),
    close: async () => {
      settle = undefined;
      await Promise.all(workers.map((worker) => worker.terminate()));
    },
  };
}
