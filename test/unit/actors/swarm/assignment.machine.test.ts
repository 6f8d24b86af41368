import { describe, expect, it } from 'vitest';
import { type AssignmentEvent, assignmentMachine } from '../../../../actors/swarm/assignment.machine.ts';
import { MachineHost } from '../../../../runtime/machine/machine-host.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';

const ACTS = ['unload', 'cancelWork', 'stopListening', 'free'] as const;

function assignment() {
  const clock = new FakeClock();
  const done: string[] = [];
  const actions = Object.fromEntries(ACTS.map((name) => [name, () => done.push(name)]));
  const host = new MachineHost(assignmentMachine, { clock, actions }, { input: { graceMs: 100 } });
  return { host, clock, done };
}

const ENDS: readonly [AssignmentEvent, readonly string[]][] = [
  [{ type: 'agent.answered' }, ['unload']],
  [{ type: 'assignment.cancelled', reason: 'over' }, ['unload', 'cancelWork']],
  [{ type: 'assignment.released' }, ['unload', 'stopListening']],
];

describe('How long an agent is listened to (F-02)', () => {
  it.each(ENDS)('ends by %o, withdrawn or not', (event, acts) => {
    for (const isWithdrawn of [false, true]) {
      const { host, clock, done } = assignment();
      if (isWithdrawn) host.send({ type: 'assignment.withdrawn' });
      host.send(event);
      expect([host.value, done, clock.pending]).toEqual(['over', acts, 0]);
    }
  });

  it('ends when the grace of what was withdrawn is over: then its work is cancelled, and it has room', () => {
    const { host, clock, done } = assignment();
    host.send({ type: 'assignment.withdrawn' });
    clock.advance(99);
    expect(host.value).toBe('withdrawn');
    clock.advance(1);
    expect([host.value, done]).toEqual(['over', ['unload', 'cancelWork', 'free']]);
  });

  it('does not end by time while it stands', () => {
    const { host, clock } = assignment();
    clock.advance(1_000_000);
    expect(host.value).toBe('active');
  });
});
