import type { A2AMessageType } from '../../runtime/protocol/envelope.ts';
import type { Contender } from '../measurement.ts';
import type { Layout } from '../team.ts';
import { openPair } from '../worker-pair.ts';

/** `width` calls of the remote object are in flight at a time. */
export interface ComlinkSettings {
  readonly layout: Layout;
  readonly type: A2AMessageType;
  readonly width: number;
}

const comlink = (settings: ComlinkSettings): Contender => ({
  name: 'comlink',
  packages: ['comlink'],
  open: async () =>
    openPair({
      sender: new URL('../workers/comlink-sender.worker.ts', import.meta.url),
      receiver: new URL('../workers/comlink-receiver.worker.ts', import.meta.url),
      settings,
    }),
});

/** comlink has no one-way call: 1,024 calls are in flight. */
export const comlinkTell = (layout: Layout) => comlink({ layout, type: 'notification', width: 1_024 });

export const comlinkAsk = (layout: Layout, width: number) => comlink({ layout, type: 'request', width });
