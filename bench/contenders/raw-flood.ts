import type { Contender } from '../measurement.ts';
import { openPair } from '../worker-pair.ts';

/** A sender that posts without a bound to a receiver that needs a millisecond for each; a run ends when all is posted. */
export const rawPortFlood: Contender = {
  name: 'raw port, unbounded',
  open: async () =>
    openPair({
      sender: new URL('../workers/raw-flood-sender.worker.ts', import.meta.url),
      receiver: new URL('../workers/raw-flood-receiver.worker.ts', import.meta.url),
      settings: {},
    }),
};
