import { isMainThread, workerData } from 'node:worker_threads';
import type { PolicyOptions } from './policies/index.ts';
import { bootThread, type ThreadDeps } from './runtime/system/boot-thread.ts';

// The entry of every thread that a system starts. What only some of them need, they load.
if (!isMainThread) {
  await bootThread({
    data: workerData as ThreadDeps['data'],
    entry: new URL(import.meta.url),
    processEntry: new URL('./process.ts', import.meta.url),
    loadInterceptors: async () => {
      const { agentInterceptors } = await import('./actors/interceptors.ts');
      return agentInterceptors;
    },
    openStore: async (path) => {
      const { SqliteStore } = await import('./runtime/journal/sqlite-store.ts');
      return SqliteStore.open({ path });
    },
    makePolicies: async (options) => {
      const { loadPolicies } = await import('./policies/index.ts');
      return loadPolicies(options as PolicyOptions);
    },
  });
}
