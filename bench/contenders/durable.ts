import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { newOrderMemory } from '../../runtime/journal/unit-order.ts';
import type { Contender, Session } from '../measurement.ts';
import { driveWorkers, openPair } from '../worker-pair.ts';

/** Envelopes in a unit: all that a thread writes at once. */
export const UNIT = 32;
/** Commits that may be under way before the oldest of them is known to be written. */
export const COMMITS_UNDER_WAY = 3;

/**
 * How much is written where.
 *
 * - `path`     the database.
 * - `units`    how many units make a commit.
 * - `order`    the shared memory of the journal's lines.
 */
export interface DurableSettings {
  readonly path: string;
  readonly units: number;
  readonly order: SharedArrayBuffer;
}

function durable(name: string, units: number, start: (settings: DurableSettings) => Session): Contender {
  return {
    name,
    open: async () => {
      const folder = mkdtempSync(join(tmpdir(), 'orrery-bench-'));
      const session = start({ path: join(folder, 'journal'), units, order: newOrderMemory() });
      return {
        run: (count) => session.run(count),
        close: async () => {
          await session.close();
          rmSync(folder, { recursive: true });
        },
      };
    },
  };
}

/** A thread writes to the journal in another one; it is told of each unit when that is synced. */
export const orreryJournal = (units: number): Contender =>
  durable('orrery journal', units, (settings) =>
    openPair({
      sender: new URL('../workers/journal-writer.worker.ts', import.meta.url),
      receiver: new URL('../workers/journal-store.worker.ts', import.meta.url),
      settings,
    }),
  );

/** The same rows in the same commits, prepared statements, in one thread and nothing else. */
export const rawSqlite = (units: number): Contender =>
  durable('raw node:sqlite', units, (settings) =>
    driveWorkers(
      new Worker(new URL('../workers/raw-sqlite.worker.ts', import.meta.url), { workerData: { settings } }),
    ),
  );
