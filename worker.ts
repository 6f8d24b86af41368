import { isMainThread, workerData } from 'node:worker_threads';
import { bootThread, type ThreadDeps } from './runtime/system/boot-thread.ts';
import type { WorkerOptions } from './worker-options.ts';

// The entry of every thread that a system starts. What only some of them need, they load.
if (!isMainThread) {
  await bootThread({
    data: workerData as ThreadDeps['data'],
    entries: { thread: new URL(import.meta.url), process: new URL('./process.ts', import.meta.url) },
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
      return loadPolicies((options as WorkerOptions).policies);
    },
    loadTracer: async (options) => {
      const { tracing } = options as WorkerOptions;
      if (tracing === undefined) return undefined;
      // Found by its URL: who traces nothing need not have the API installed.
      const module: typeof import('./runtime/observe/open-telemetry.ts') = await import(
        new URL('./runtime/observe/open-telemetry.ts', import.meta.url).href
      );
      return module.loadTracer(tracing);
    },
  });
}
