import { isMainThread, workerData } from 'node:worker_threads';
import { negotiationAttendant } from './actors/negotiator/attendant.ts';
import { documentAttendant } from './actors/shared-state/attendant.ts';
import { swarmAttendant } from './actors/swarm/attendant.ts';
import { toolAttendant } from './actors/tools/attendant.ts';
import { privilegeAttendant } from './actors/tasks/privilege-attendant.ts';
import { loadPolicies, type PolicyOptions } from './policies/index.ts';
import { bootThread, type ThreadDeps } from './runtime/threads/boot-thread.ts';

// The entry of every thread that a system starts.
if (!isMainThread) {
  await bootThread({
    data: workerData as ThreadDeps['data'],
    entry: new URL(import.meta.url),
    processEntry: new URL('./process.ts', import.meta.url),
    attendants: [negotiationAttendant, swarmAttendant, documentAttendant, toolAttendant, privilegeAttendant],
    openStore: async (path) => {
      const { SqliteStore } = await import('./runtime/journal/sqlite-store.ts');
      return SqliteStore.open({ path });
    },
    makePolicies: (options) => loadPolicies(options as PolicyOptions),
  });
}
