import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { report, rssMb } from './outcome.mjs';

const THREADS = 3;

const workers = Array.from(
  { length: THREADS },
  () => new Worker(new URL('./bare.worker.mjs', import.meta.url)),
);
await Promise.all(workers.map((worker) => once(worker, 'message')));
const rss = rssMb();
await Promise.all(workers.map((worker) => worker.terminate()));
report({ rssMb: rss });
