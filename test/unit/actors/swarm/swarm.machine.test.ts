import { describe, expect, it } from 'vitest';
import { type SwarmLifeEvent, swarmMachine } from '../../../../actors/swarm/swarm.machine.ts';
import { isAtWork, isOver, SwarmStatus } from '../../../../actors/swarm/swarm-session.ts';
import { type MachineBeginning, MachineHost } from '../../../../runtime/machine/machine-host.ts';

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
const STEPS: readonly [SwarmStatus, SwarmLifeEvent['type'], SwarmStatus, readonly string[]][] = [
  ['recruiting', 'team.formed', 'active', ['keepStatus', 'dispatch']],
  ['recruiting', 'team.missing', 'failed', ['keepStatus', 'escalate', 'release']],
  ['recruiting', 'deadline.passed', 'failed', ['keepStatus', 'escalate', 'release']],
  ['recruiting', 'swarm.cancelled', 'failed', ['keepStatus', 'escalate', 'release']],
  ['active', 'subTasks.completed', 'completing', ['keepStatus', 'aggregate', 'report']],
  ['active', 'subTasks.failed', 'failed', ['keepStatus', 'escalate', 'release']],
  ['active', 'deadline.passed', 'failed', ['keepStatus', 'escalate', 'release']],
  ['active', 'swarm.cancelled', 'failed', ['keepStatus', 'escalate', 'release']],
  ['completing', 'outcome.reported', 'completed', ['keepStatus', 'release', 'tellOutcome']],
];

const ACTS = [
  'keepStatus',
  'invite',
  'dispatch',
  'aggregate',
  'report',
  'tellOutcome',
  'escalate',
  'release',
] as const;

function swarm(beginning: MachineBeginning<typeof swarmMachine> = {}) {
  const done: string[] = [];
  const actions = Object.fromEntries(ACTS.map((name) => [name, () => done.push(name)]));
  return { host: new MachineHost(swarmMachine, { actions }, beginning), done };
}

const swarmIn = (value: SwarmStatus) => swarm({ persisted: { value, context: {}, timers: [] } });

describe('The life of a swarm (N-D13)', () => {
  it('begins by inviting', () => {
    const { host, done } = swarm();
    host.start();
    expect([host.value, done]).toEqual(['recruiting', ['invite']]);
  });

  it.each(STEPS)('goes from %s by %s to %s', (from, type, to, acts) => {
    const { host, done } = swarmIn(from);
    host.send({ type });
    expect([host.value, done]).toEqual([to, acts]);
  });

  it('listens to nothing else', () => {
    for (const from of SwarmStatus.options) {
      for (const type of EVENTS) {
        const isStep = STEPS.some(([status, by]) => status === from && type === by);
        const { host, done } = swarmIn(from);
        expect(host.can({ type }), `${from} by ${type}`).toBe(isStep);
        if (isStep) continue;
        host.send({ type });
        expect([host.value, done]).toEqual([from, []]);
      }
    }
  });

  it('has a way into every state, and none out of the last ones', () => {
    const reached = new Set<SwarmStatus>(['recruiting', ...STEPS.map(([, , to]) => to)]);
    expect([...reached].sort()).toEqual([...SwarmStatus.options].sort());
    for (const status of SwarmStatus.options) expect(swarmIn(status).host.isOver).toBe(isOver(status));
  });

  it('takes agents in until all of its work is done', () => {
    expect(SwarmStatus.options.filter(isAtWork)).toEqual(['recruiting', 'active']);
    expect(SwarmStatus.options.filter(isOver)).toEqual(['completed', 'failed']);
  });
});
