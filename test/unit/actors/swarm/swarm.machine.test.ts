import { describe, expect, it } from 'vitest';
import { createActor } from 'xstate';
import { type SwarmLifeEvent, swarmMachine } from '../../../../actors/swarm/swarm.machine.ts';
import {
  FIRST_SWARM_STEP,
  isAtWork,
  isOver,
  nextSwarmStep,
  type SwarmStep,
} from '../../../../actors/swarm/swarm-life.ts';
import { SwarmStatus } from '../../../../actors/swarm/swarm-session.ts';

const EVENTS: readonly SwarmLifeEvent['type'][] = [
  'team.formed',
  'team.missing',
  'subTasks.completed',
  'subTasks.failed',
  'outcome.reported',
  'deadline.passed',
  'swarm.cancelled',
];

/** Every step that a swarm can take: from, by, to, and what is done. */
const STEPS: readonly [SwarmStatus, SwarmLifeEvent['type'], SwarmStatus, SwarmStep['effects']][] = [
  ['recruiting', 'team.formed', 'active', ['dispatch']],
  ['recruiting', 'team.missing', 'failed', ['escalate', 'release']],
  ['recruiting', 'deadline.passed', 'failed', ['escalate', 'release']],
  ['recruiting', 'swarm.cancelled', 'failed', ['escalate', 'release']],
  ['active', 'subTasks.completed', 'completing', ['aggregate', 'report']],
  ['active', 'subTasks.failed', 'failed', ['escalate', 'release']],
  ['active', 'deadline.passed', 'failed', ['escalate', 'release']],
  ['active', 'swarm.cancelled', 'failed', ['escalate', 'release']],
  ['completing', 'outcome.reported', 'completed', ['release']],
];

describe('The life of a swarm (N-D13)', () => {
  it('begins by inviting', () => {
    expect(FIRST_SWARM_STEP).toEqual({ status: 'recruiting', effects: ['invite'] });
  });

  it.each(STEPS)('goes from %s by %s to %s', (from, by, to, effects) => {
    expect(nextSwarmStep(from, by)).toEqual({ status: to, effects });
  });

  it('listens to nothing else', () => {
    for (const from of SwarmStatus.options) {
      for (const by of EVENTS) {
        const isStep = STEPS.some(([status, type]) => status === from && type === by);
        expect(nextSwarmStep(from, by) !== undefined, `${from} by ${by}`).toBe(isStep);
      }
    }
  });

  it('has a way into every state, and none out of the last ones', () => {
    const reached = new Set<SwarmStatus>(['recruiting', ...STEPS.map(([, , to]) => to)]);
    expect([...reached].sort()).toEqual([...SwarmStatus.options].sort());
    for (const status of ['completed', 'failed'] as const)
      for (const by of EVENTS) expect(nextSwarmStep(status, by)).toBeUndefined();
  });

  it('takes agents in until all of its work is done', () => {
    expect(SwarmStatus.options.filter(isAtWork)).toEqual(['recruiting', 'active']);
    expect(SwarmStatus.options.filter(isOver)).toEqual(['completed', 'failed']);
  });

  it('agrees with the machine run as an actor', () => {
    for (const events of [
      ['team.formed', 'subTasks.completed', 'outcome.reported'],
      ['team.missing'],
      ['outcome.reported', 'team.formed', 'team.missing', 'subTasks.failed'],
    ] as const) {
      const actor = createActor(swarmMachine).start();
      let status: SwarmStatus = 'recruiting';
      for (const type of events) {
        actor.send({ type });
        status = nextSwarmStep(status, type)?.status ?? status;
        expect(actor.getSnapshot().value).toBe(status);
      }
    }
  });
});
