import { Worker } from 'node:worker_threads';
import type { A2AMessageType } from '../../runtime/protocol/envelope.ts';
import type { Contender } from '../measurement.ts';
import type { Layout } from '../team.ts';
import { driveWorkers } from '../worker-pair.ts';

/** `width` tasks are in the pool at a time; the pool has one thread. */
export interface PiscinaSettings {
  readonly layout: Layout;
  readonly type: A2AMessageType;
  readonly width: number;
}

/** The pool belongs to a worker, so that its tasks go from worker to worker as everybody's messages do. */
const piscina = (settings: PiscinaSettings): Contender => ({
  name: 'piscina',
  packages: ['piscina'],
  open: async () => {
    const module = new URL('../workers/piscina-owner.worker.ts', import.meta.url);
    return driveWorkers(new Worker(module, { workerData: { settings } }));
  },
});

/** piscina has no one-way task: 1,024 tasks are in the pool. */
export const piscinaTell = (layout: Layout) => piscina({ layout, type: 'notification', width: 1_024 });

export const piscinaAsk = (layout: Layout, width: number) => piscina({ layout, type: 'request', width });
