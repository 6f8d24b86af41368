import { describe, expect, it } from 'vitest';
import { type SwarmLifeEvent, swarmMachine } from '../../../../actors/swarm/swarm.machine.ts';
import { isAtWork, isOver, SwarmStatus } from '../../../../actors/swarm/swarm-session.ts';
import { type MachineBeginning, MachineHost } from '../../../../runtime/machine/machine-host.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';

const error = { code: 'CANCELLED', message: 'enough' } as const;
const EVENTS: readonly SwarmLifeEvent[] = [
  { type: 'swarm.resumed' },
  { type: 'swarm.changed' },
  { type: 'recruiting.ended' },
  { type: 'team.formed' },
  { type: 'team.missing', error },
  { type: 'subTasks.completed' },
  { type: 'subTasks.failed', error },
  { type: 'outcome.reported' },
  { type: 'deadline.passed' },
  { type: 'swarm.cancelled', error },
];

const FAILED = ['recordStatus', 'escalate'];
/** Every step that a swarm can take: from, by, to, and what is done. */
const STEPS: readonly [SwarmStatus, SwarmLifeEvent['type'], SwarmStatus, readonly string[]][] = [
  ['recruiting', 'swarm.resumed', 'recruiting', ['invite']],
  ['recruiting', 'swarm.changed', 'recruiting', ['formTeam']],
  ['recruiting', 'recruiting.ended', 'recruiting', ['formTeam']],
  ['recruiting', 'team.formed', 'active', ['recordStatus', 'dispatch']],
  ['recruiting', 'team.missing', 'failed', FAILED],
  ['recruiting', 'deadline.passed', 'failed', FAILED],
  ['recruiting', 'swarm.cancelled', 'failed', FAILED],
  ['active', 'swarm.resumed', 'active', ['dispatch']],
  ['active', 'swarm.changed', 'active', ['dispatch']],
  ['active', 'subTasks.completed', 'completing', ['recordStatus', 'aggregate', 'report']],
  ['active', 'subTasks.failed', 'failed', FAILED],
  ['active', 'deadline.passed', 'failed', FAILED],
  ['active', 'swarm.cancelled', 'failed', FAILED],
  ['completing', 'swarm.resumed', 'completing', ['aggregate', 'report']],
  ['completing', 'outcome.reported', 'completed', ['recordStatus', 'tellOutcome']],
];

const ACTS = [
  'recordStatus',
  'invite',
  'formTeam',
  'dispatch',
  'aggregate',
  'report',
  'tellOutcome',
  'escalate',
] as const;

const INPUT = { recruitMs: 50, timeoutMs: 200 };

function swarm(beginning: MachineBeginning<typeof swarmMachine>) {
  const clock = new FakeClock();
  const done: string[] = [];
  const actions = Object.fromEntries(ACTS.map((name) => [name, () => done.push(name)]));
  return { host: new MachineHost(swarmMachine, { actions, clock }, beginning), done, clock };
}

const swarmIn = (value: SwarmStatus) => swarm({ persisted: { value, context: INPUT, timers: [] } });

const eventOf = (type: SwarmLifeEvent['type']): SwarmLifeEvent =>
  EVENTS.find((event) => event.type === type) as SwarmLifeEvent;

describe('The life of a swarm (N-D13)', () => {
  it('begins by inviting, for as long as it is given', () => {
    const { host, done, clock } = swarm({ input: INPUT });
    host.start();
    expect([host.value, done]).toEqual(['recruiting', ['invite']]);
    clock.advance(INPUT.recruitMs);
    expect([host.value, done]).toEqual(['recruiting', ['invite', 'formTeam']]);
  });

  it('ends at its deadline, in whatever state its work is', () => {
    for (const formed of [false, true]) {
      const { host, clock } = swarm({ input: INPUT });
      host.start();
      if (formed) host.send({ type: 'team.formed' });
      clock.advance(INPUT.timeoutMs - 1);
      expect(host.isOver).toBe(false);
      clock.advance(1);
      expect([host.value, clock.pending]).toEqual(['failed', 0]);
    }
  });

  it.each(STEPS)('goes from %s by %s to %s', (from, type, to, acts) => {
    const { host, done } = swarmIn(from);
    host.send(eventOf(type));
    expect([host.value, done]).toEqual([to, acts]);
  });

  it('listens to nothing else', () => {
    for (const from of SwarmStatus.options) {
      for (const event of EVENTS) {
        const isStep = STEPS.some(([status, by]) => status === from && event.type === by);
        const { host, done } = swarmIn(from);
        expect(host.can(event), `${from} by ${event.type}`).toBe(isStep);
        if (isStep) continue;
        host.send(event);
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
