import { Worker } from 'node:worker_threads';
import type { A2AMessageType } from '../../runtime/protocol/envelope.ts';
import type { Contender } from '../measurement.ts';
import type { Layout } from '../team.ts';
import { driveWorkers } from '../worker-pair.ts';

/** `width` messages are in flight at a time; notifications are sent, requests are sent and waited for. */
export interface ComedySettings {
  readonly layout: Layout;
  readonly type: A2AMessageType;
  readonly width: number;
}

/** The actor system belongs to a worker, and its one child to a thread below it: messages go from worker to worker. */
const comedy = (settings: ComedySettings): Contender => ({
  name: 'comedy',
  packages: ['comedy'],
  open: async () =>
    driveWorkers(
      new Worker(new URL('../workers/comedy-sender.worker.ts', import.meta.url), {
        workerData: { settings },
      }),
    ),
});

export const comedyTell = (layout: Layout) => comedy({ layout, type: 'notification', width: 1_024 });

export const comedyAsk = (layout: Layout, width: number) => comedy({ layout, type: 'request', width });
