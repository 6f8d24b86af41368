import { parentPort, workerData } from 'node:worker_threads';
import type { PairEnd, RunEnd } from '../worker-pair.ts';

/** This worker's end of its pair. */
export const pairEnd = <Settings>(): PairEnd<Settings> => workerData as PairEnd<Settings>;

/** Runs `send` for each count that the main thread orders, one at a time, and reports its end. */
export function serveRuns(send: (count: number) => Promise<void>): void {
  parentPort?.on('message', (count: number) => {
    send(count).then(
      () => parentPort?.postMessage({} satisfies RunEnd),
      (error: unknown) => parentPort?.postMessage({ error: String(error) } satisfies RunEnd),
    );
  });
}
