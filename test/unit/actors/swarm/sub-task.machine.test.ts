import { describe, expect, it } from 'vitest';
import { type SubTaskEvent, subTaskMachine } from '../../../../actors/swarm/sub-task.machine.ts';
import { MachineHost } from '../../../../runtime/machine/machine-host.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';

const LEASE_MS = 100;
const error = { code: 'REFUSED', message: 'it cannot' } as const;

/** A sub-task whose lease is judged by the clock, as a coordinator does. */
function subTask() {
  const clock = new FakeClock();
  const done: string[] = [];
  const note = (name: string) => () => void done.push(name);
  const host: MachineHost<typeof subTaskMachine> = new MachineHost(
    subTaskMachine,
    {
      clock,
      actions: {
        begin: note('begin'),
        complete: note('complete'),
        takeBack: note('takeBack'),
        giveUp: note('giveUp'),
        judgeLease: ({ event }) => {
          const dueAtMs = event.type === 'lease.ended' ? event.dueAtMs : 0;
          host.send({ type: clock.now() - dueAtMs > LEASE_MS / 4 ? 'lease.unheard' : 'lease.over' });
        },
      },
    },
    { input: { leaseMs: LEASE_MS } },
  );
  const decide = (agentId: string): void => host.send({ type: 'agent.assigned', agentId, atMs: clock.now() });
  const assign = (agentId: string): void => {
    decide(agentId);
    host.send({ type: 'assignment.handedOver', atMs: clock.now() });
  };
  const heard = (agentId: string, epoch: number): void =>
    host.send({ type: 'agent.heard', agentId, epoch, atMs: clock.now() });
  return { host, clock, done, decide, assign, heard };
}

const reports = (agentId: string, epoch: number): readonly SubTaskEvent[] => [
  { type: 'result.reported', agentId, epoch, result: 1 },
  { type: 'failure.reported', agentId, epoch, end: 'failed', error },
  { type: 'agent.heard', agentId, epoch, atMs: 0 },
];

describe('The life of a sub-task (F-02, F-11)', () => {
  it('is an agent after the other, each under the next epoch, until one completes it', () => {
    const { host, done, assign } = subTask();
    assign('one');
    expect(host.context).toMatchObject({ agentId: 'one', epoch: 1 });
    host.send({ type: 'failure.reported', agentId: 'one', epoch: 1, end: 'failed', error });
    expect([host.value, host.context.agentId]).toEqual(['pending', '']);
    assign('two');
    host.send({ type: 'result.reported', agentId: 'two', epoch: 2, result: 7 });
    expect([host.value, host.context.agentId, host.context.epoch]).toEqual(['completed', 'two', 2]);
    expect(done).toEqual(['begin', 'takeBack', 'begin', 'complete']);
  });

  it('takes reports under the assignment that stands, and under no other', () => {
    const { host, assign } = subTask();
    assign('one');
    host.send({ type: 'assignment.revoked', end: 'left' });
    assign('one');
    for (const event of reports('one', 2)) expect(host.can(event), event.type).toBe(true);
    for (const [agentId, epoch] of [
      ['one', 1],
      ['one', 3],
      ['two', 2],
    ] as const)
      for (const event of reports(agentId, epoch)) expect(host.can(event), event.type).toBe(false);
  });

  it('takes none while nobody has it, and none when it is done', () => {
    const ends: readonly SubTaskEvent[] = [
      { type: 'assignment.revoked', end: 'lost' },
      { type: 'result.reported', agentId: 'one', epoch: 1, result: 1 },
      { type: 'swarm.ended', error },
    ];
    for (const end of ends) {
      const { host, assign } = subTask();
      assign('one');
      host.send(end);
      for (const event of reports('one', 1)) expect(host.can(event), end.type).toBe(false);
    }
  });

  it('fails for good only while nobody has it, or with its swarm', () => {
    const { host, assign } = subTask();
    assign('one');
    expect(host.can({ type: 'subTask.givenUp', error })).toBe(false);
    host.send({ type: 'assignment.revoked', end: 'lost' });
    host.send({ type: 'subTask.givenUp', error });
    expect(host.value).toBe('failed');
  });

  it('is the next agent’s when its lease is over, which signs of life put off', () => {
    const { host, clock, assign, heard } = subTask();
    assign('one');
    clock.advance(60);
    heard('one', 1);
    heard('two', 1);
    clock.advance(99);
    expect(host.value).toEqual({ running: 'leased' });
    clock.advance(1);
    expect([host.value, clock.pending]).toEqual(['pending', 0]);
  });

  it('has no lease before it is on its way', () => {
    const { host, clock, decide } = subTask();
    decide('one');
    clock.advance(1_000);
    expect([host.value, clock.pending]).toEqual([{ running: 'decided' }, 0]);
    host.send({ type: 'assignment.handedOver', atMs: clock.now() });
    clock.advance(LEASE_MS - 1);
    expect(host.value).toEqual({ running: 'leased' });
    clock.advance(1);
    expect(host.value).toBe('pending');
  });

  it('is given time once when the coordinator itself stood still', () => {
    const { host, clock, done, assign } = subTask();
    assign('one');
    clock.jump(2_000);
    clock.advance(0);
    expect(host.value).toEqual({ running: 'unheard' });
    clock.jump(5_000);
    clock.advance(0);
    expect([host.value, done]).toEqual(['pending', ['begin', 'takeBack']]);
  });

  it('goes on with its whole lease when it is heard of in that time', () => {
    const { host, clock, assign, heard } = subTask();
    assign('one');
    clock.jump(2_000);
    clock.advance(24);
    heard('one', 1);
    clock.advance(99);
    expect(host.value).toEqual({ running: 'leased' });
  });

  it('leaves no timer behind, however it ends', () => {
    for (const event of [...reports('one', 1).slice(0, 2), { type: 'swarm.ended', error } as const]) {
      const { host, clock, assign } = subTask();
      assign('one');
      host.send(event);
      expect(clock.pending, event.type).toBe(0);
    }
  });
});
