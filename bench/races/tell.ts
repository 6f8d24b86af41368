import { comedyTell } from '../contenders/comedy.ts';
import { comlinkTell } from '../contenders/comlink.ts';
import { orreryTell } from '../contenders/orrery.ts';
import { piscinaTell } from '../contenders/piscina.ts';
import { bareMachineSend, bareTransitionSend } from '../contenders/plain-xstate.ts';
import { rawBatchedPort, rawPort, rawPortUnbounded } from '../contenders/raw-tell.ts';
import type { Goal, Race } from '../measurement.ts';
import type { Plugin } from '../plugin.ts';

/** DESIGN 11: of a raw port with JSON batches of 128, for handlers and transition logic. */
const TELL: Goal = { better: 'more', target: 1.1, floor: 0.9 };

/** DESIGN 11: of a bare `actor.send` of the same machine, across threads or in one. */
const MACHINE: Goal = { better: 'more', target: 0.85 };

const BATCHED = 'raw batched port';

/** One-way messages of 21 senders in one worker to receivers in the other. */
const tellAcrossThreads: Race = {
  kind: 'race',
  name: 'tell-across',
  title: 'One-way tell across two worker threads, 21 senders in three tiers',
  unit: 'per second',
  contenders: [
    orreryTell('handler', 'tiers', 'across'),
    orreryTell('transition', 'tiers', 'across'),
    orreryTell('machine', 'tiers', 'across'),
    rawBatchedPort('tiers'),
    rawPort('tiers'),
    rawPortUnbounded('tiers'),
    comlinkTell('tiers'),
    piscinaTell('tiers'),
    comedyTell('tiers'),
    bareMachineSend,
  ],
  comparisons: [
    { contender: 'orrery handler', baseline: BATCHED, of: 'rate', goal: TELL },
    { contender: 'orrery transition', baseline: BATCHED, of: 'rate', goal: TELL },
    { contender: 'orrery machine', baseline: 'bare machine', of: 'rate', goal: MACHINE },
    { contender: 'orrery machine', baseline: BATCHED, of: 'rate' },
    { contender: 'raw port', baseline: BATCHED, of: 'rate' },
    { contender: 'raw port, unbounded', baseline: BATCHED, of: 'rate' },
    { contender: 'comlink', baseline: BATCHED, of: 'rate' },
    { contender: 'piscina', baseline: BATCHED, of: 'rate' },
    { contender: 'comedy', baseline: BATCHED, of: 'rate' },
  ],
};

/** The same team in the thread that started the system. */
const tellInOneThread: Race = {
  kind: 'race',
  name: 'tell-inline',
  title: 'One-way tell inside one thread, 21 senders in three tiers',
  unit: 'per second',
  contenders: [
    orreryTell('handler', 'tiers', 'inline'),
    orreryTell('transition', 'tiers', 'inline'),
    orreryTell('machine', 'tiers', 'inline'),
    bareMachineSend,
    bareTransitionSend,
  ],
  comparisons: [
    { contender: 'orrery machine', baseline: 'bare machine', of: 'rate', goal: MACHINE },
    { contender: 'orrery handler', baseline: 'bare machine', of: 'rate' },
    { contender: 'orrery transition', baseline: 'bare machine', of: 'rate' },
    { contender: 'orrery transition', baseline: 'bare transition', of: 'rate' },
  ],
};

/** The same senders, each going round so many receivers. */
const fanOutTo = (receivers: number): Race => ({
  kind: 'race',
  name: `fan-out-${receivers}`,
  title: `One-way tell across two worker threads, 21 senders to ${receivers} recipients`,
  unit: 'per second',
  contenders: [orreryTell('handler', receivers, 'across'), rawBatchedPort(receivers), rawPort(receivers)],
  comparisons: [
    { contender: 'orrery handler', baseline: BATCHED, of: 'rate', goal: TELL },
    { contender: 'raw port', baseline: BATCHED, of: 'rate' },
  ],
});

const fanOuts: readonly Race[] = [1, 21, 100].map(fanOutTo);

export const plugin: Plugin = { measurements: [tellAcrossThreads, ...fanOuts, tellInOneThread] };
