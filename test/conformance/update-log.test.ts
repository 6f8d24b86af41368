import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { JournalledUpdateLog } from '../../actors/shared-state/journalled-update-log.ts';
import { InMemoryUpdateLog } from '../../actors/shared-state/update-log.ts';
import { MemoryMedium, MemoryStore } from '../../runtime/journal/memory-store.ts';
import { SqliteStore } from '../../runtime/journal/sqlite-store.ts';
import type { Store } from '../../runtime/protocol/store.ts';
import { AgentJournal } from '../fixtures/agent-journal.ts';
import { type LogUnderTest, updateLogSuite } from './update-log.suite.ts';

/** A log in the journal: each process has a store of its own over what the one before has left. */
function keptLog(openStore: () => Store, remove: () => void): LogUnderTest {
  let store: Store | undefined;
  return {
    open: async () => {
      await store?.close();
      store = openStore();
      return new JournalledUpdateLog(await new AgentJournal(store).recordsOf('mars'), 'plan');
    },
    discard: async () => {
      await store?.close();
      remove();
    },
  };
}

updateLogSuite('InMemoryUpdateLog', async () => {
  const log = new InMemoryUpdateLog();
  return { open: async () => log, discard: async () => undefined };
});

updateLogSuite('JournalledUpdateLog in a MemoryStore', async () => {
  const medium = new MemoryMedium();
  return keptLog(
    () => new MemoryStore({ medium }),
    () => undefined,
  );
});

updateLogSuite('JournalledUpdateLog in a SqliteStore', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'orrery-update-log-'));
  return keptLog(
    () => SqliteStore.open({ path: join(folder, 'journal') }),
    () => rmSync(folder, { recursive: true }),
  );
});
