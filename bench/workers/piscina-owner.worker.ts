import { workerData } from 'node:worker_threads';
import { Piscina } from 'piscina';
import type { PiscinaSettings } from '../contenders/piscina.ts';
import { envelopeSource } from '../envelope.ts';
import { pipelined } from '../pipelined.ts';
import { serveRuns } from './pair-end.ts';

const { settings } = workerData as { settings: PiscinaSettings };
const makeEnvelope = envelopeSource(settings.layout, settings.type);
let sent = 0;

const pool = new Piscina({
  filename: new URL('./piscina-task.worker.ts', import.meta.url).href,
  name: 'handle',
  minThreads: 1,
  maxThreads: 1,
  concurrentTasksPerWorker: settings.width,
  workerData: { layout: settings.layout },
});

serveRuns((count) => pipelined(count, settings.width, () => pool.run(makeEnvelope(sent++))));
