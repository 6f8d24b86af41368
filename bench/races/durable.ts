import { orreryJournal, rawSqlite, UNIT } from '../contenders/durable.ts';
import { orreryDurableTell, orreryTell } from '../contenders/orrery.ts';
import type { Race } from '../measurement.ts';
import type { Plugin } from '../plugin.ts';

/** So many units of 32 envelopes are one commit, at both. */
const durableWrites = (units: number): Race => ({
  kind: 'race',
  name: `durable-${units * UNIT}`,
  title: `Durable writes of envelopes, ${units * UNIT} to a commit, synced`,
  unit: 'per second',
  contenders: [orreryJournal(units), rawSqlite(units)],
  comparisons: [
    {
      contender: 'orrery journal',
      baseline: 'raw node:sqlite',
      of: 'rate',
      goal: { better: 'more', floor: 0.5 },
    },
  ],
});

const LARGE = 8;
/** Units of a commit that make as large a batch as the system's own are in this race, on average. */
const OWN = 32;

const durableTell: Race = {
  kind: 'race',
  name: 'durable-tell',
  title: 'One-way tell across two worker threads, to mailboxes that outlive the process',
  unit: 'per second',
  contenders: [
    orreryDurableTell('handler', 'tiers'),
    rawSqlite(OWN),
    orreryTell('handler', 'tiers', 'across'),
  ],
  comparisons: [
    {
      contender: 'orrery durable',
      baseline: 'raw node:sqlite',
      of: 'rate',
      goal: { better: 'more', floor: 0.5 },
    },
    { contender: 'orrery durable', baseline: 'orrery handler', of: 'rate' },
  ],
};

const durable: readonly Race[] = [...[1, LARGE].map(durableWrites), durableTell];

export const plugin: Plugin = { measurements: durable };
