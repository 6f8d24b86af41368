import { orreryTell } from '../contenders/orrery.ts';
import { inspectedTell, watchedTell } from '../contenders/watched.ts';
import type { Goal, Race } from '../measurement.ts';
import type { Plugin } from '../plugin.ts';

/** A page that is attached takes at most 15 % of the processor time that an envelope takes by itself. */
const ATTACHED: Goal = { better: 'less', target: 1.15 };

/** One-way messages, with and without somebody who watches. */
const watched: Race = {
  kind: 'race',
  name: 'watched',
  title: 'One-way tell across two worker threads, 21 senders, while a page is attached',
  unit: 'per second',
  contenders: [orreryTell('handler', 'tiers', 'across'), inspectedTell, watchedTell],
  comparisons: [
    { contender: watchedTell.name, baseline: 'orrery handler', of: 'cpu', goal: ATTACHED },
    { contender: watchedTell.name, baseline: 'orrery handler', of: 'rate' },
    { contender: inspectedTell.name, baseline: 'orrery handler', of: 'cpu' },
  ],
};

export const plugin: Plugin = { measurements: [watched] };
