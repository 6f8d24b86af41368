import { proposals, SWARM_SIZE, sequentialAsks, sharedAsks, swarms } from '../contenders/cooperation.ts';
import type { Race } from '../measurement.ts';
import type { Plugin } from '../plugin.ts';

/** What it takes to agree on a task, beside what it takes to have it done. */
const proposalRoundTrip: Race = {
  kind: 'race',
  name: 'proposal',
  title:
    'A proposal to an agent in a worker until both sides know that it is taken on, and an ask of the same agent',
  unit: 'microseconds',
  contenders: [proposals, sequentialAsks],
  comparisons: [{ contender: 'proposal', baseline: 'ask', of: 'time' }],
};

/** Small sub-tasks, so that what is measured is the swarm. */
const swarmOfMany: Race = {
  kind: 'race',
  name: 'swarm',
  title: `Sub-tasks of swarms of ${SWARM_SIZE} on 21 agents in two workers, and the same asks by hand`,
  unit: 'per second',
  contenders: [swarms, sharedAsks],
  comparisons: [{ contender: 'swarm', baseline: 'asks by hand', of: 'rate' }],
};

export const plugin: Plugin = { measurements: [proposalRoundTrip, swarmOfMany] };
