import { isMainThread, workerData } from 'node:worker_threads';
import { loadPolicies, type PolicyOptions } from './policies/index.ts';
import { bootThread, type ThreadDeps } from './runtime/threads/boot-thread.ts';

// The entry of every thread that a system starts.
if (!isMainThread) {
  await bootThread({
    data: workerData as ThreadDeps['data'],
    entry: new URL(import.meta.url),
    makePolicies: (options) => loadPolicies(options as PolicyOptions),
  });
}
