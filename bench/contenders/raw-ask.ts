import type { Contender } from '../measurement.ts';
import type { Layout } from '../team.ts';
import { openPair } from '../worker-pair.ts';

/** How a raw port is used for requests: `width` of them in flight, each answered in a post of its own. */
export interface RawAskSettings {
  readonly layout: Layout;
  readonly width: number;
}

const receiver = new URL('../workers/raw-ask-receiver.worker.ts', import.meta.url);

/** A promise a request, one structured clone each way: the baseline of DESIGN 11. */
export const rawPortAsk = (layout: Layout, width: number): Contender => ({
  name: 'raw port',
  open: async () =>
    openPair({
      sender: new URL('../workers/raw-ask-sender.worker.ts', import.meta.url),
      receiver,
      settings: { layout, width },
    }),
});

/** The next request leaves from the listener that got the answer: no promise, no table of waiting requests. */
export const rawPingPong = (layout: Layout): Contender => ({
  name: 'raw ping-pong',
  open: async () =>
    openPair({
      sender: new URL('../workers/raw-ping-pong-sender.worker.ts', import.meta.url),
      receiver,
      settings: { layout, width: 1 },
    }),
});
