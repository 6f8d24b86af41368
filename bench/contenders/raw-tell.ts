import type { Contender } from '../measurement.ts';
import type { Layout } from '../team.ts';
import { openPair } from '../worker-pair.ts';

/**
 * How a raw port is used for one-way messages.
 *
 * - `batch`   envelopes a post: 1 is a structured clone of the envelope, more is the JSON text of an array.
 * - `window`  envelopes that may be unacknowledged; the receiver acknowledges every 256.
 */
export interface RawTellSettings {
  readonly layout: Layout;
  readonly batch: number;
  readonly window: number;
}

const WINDOW = 1_024;

const rawTell = (name: string, settings: RawTellSettings): Contender => ({
  name,
  open: async () =>
    openPair({
      sender: new URL('../workers/raw-tell-sender.worker.ts', import.meta.url),
      receiver: new URL('../workers/raw-tell-receiver.worker.ts', import.meta.url),
      settings,
    }),
});

/** One structured clone a post, at most 1,024 in flight. */
export const rawPort = (layout: Layout) => rawTell('raw port', { layout, batch: 1, window: WINDOW });

/** The same without a bound: what `postMessage` does by itself. */
export const rawPortUnbounded = (layout: Layout) =>
  rawTell('raw port, unbounded', { layout, batch: 1, window: Number.POSITIVE_INFINITY });

/** JSON batches of 128, at most 1,024 in flight: the baseline of DESIGN 11. */
export const rawBatchedPort = (layout: Layout) =>
  rawTell('raw batched port', { layout, batch: 128, window: WINDOW });
