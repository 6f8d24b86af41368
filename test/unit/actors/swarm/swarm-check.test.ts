import { describe, expect, it } from 'vitest';
import { SwarmCheck } from '../../../../actors/swarm/swarm-check.ts';
import { type SwarmRecord, withSession, withSubTask } from '../../../../actors/swarm/swarm-record.ts';
import { assigned, completed, givenUp, planOf, recordOf, sentIn, takenBack } from './swarm-records.ts';

const fault = { code: 'REFUSED', message: 'it cannot' } as const;
const begun = (): SwarmRecord => recordOf(planOf('types.check'));
const ended = (record: SwarmRecord, status: 'completed' | 'failed'): SwarmRecord =>
  withSession(record, { status });

/** What a check says of these records, seen one after the other. */
function violations(...records: readonly SwarmRecord[]): readonly string[] {
  const check = new SwarmCheck();
  const coordinator = {};
  for (const { session } of records) check.see(session, coordinator);
  return check.violations;
}

describe('SwarmCheck (N-8.4, N-8.5, F-03)', () => {
  it('is content with a sub-task that is failed, given to another, and completed', () => {
    const first = assigned(begun(), 'a', 'one', 1);
    const back = takenBack(first, 'a', { end: 'failed', error: fault }, 2);
    const second = sentIn(assigned(back, 'a', 'two', 3), 'a', { epoch: 2, envelopeId: 'm-2' });
    const done = completed(second, 'a', 7, 4);
    expect(violations(begun(), first, back, second, done, ended(done, 'completed'))).toEqual([]);
  });

  it('is content with a swarm that ends without a result and says why, and with what was lost on the way', () => {
    const lost = takenBack(assigned(begun(), 'a', 'one', 1), 'a', { end: 'lost' }, 2);
    const again = takenBack(assigned(lost, 'a', 'one', 3), 'a', { end: 'failed', error: fault }, 4);
    expect(violations(lost, again, ended(givenUp(again, 'a', fault), 'failed'))).toEqual([]);
  });

  it('tells of a swarm that is over and has neither a result nor a reason', () => {
    expect(violations(ended(begun(), 'completed'))).toEqual([
      '"a" of 1@owner is pending and the swarm is over: it has neither a result nor a reason',
    ]);
  });

  it('tells of two results, at once or one after the other', () => {
    const done = completed(assigned(begun(), 'a', 'one', 1), 'a', 7, 2);
    expect(violations(done, withSubTask(done, 'a', { result: 8 }))).toEqual([
      '"a" of 1@owner has a second result',
    ]);
    const twice = completed(assigned(done, 'a', 'two', 3), 'a', 7, 4);
    expect(violations(twice)).toEqual(['"a" of 1@owner is completed, and 2 agents completed it']);
  });

  it('tells of two agents that have it at a time', () => {
    const both = assigned(assigned(begun(), 'a', 'one', 1), 'a', 'two', 2);
    expect(violations(both)).toEqual(['"a" of 1@owner is running, and 2 agents have it']);
  });

  it('tells of epochs that do not grow', () => {
    const back = takenBack(assigned(begun(), 'a', 'one', 1), 'a', { end: 'lost' }, 2);
    expect(violations(back, begun())).toEqual(['"a" of 1@owner was in epoch 1 and is in 0']);
    expect(violations(withSubTask(back, 'a', { epoch: 3 }))).toEqual([
      '"a" of 1@owner is in epoch 3 after assignments 1',
    ]);
  });

  it.each(['failed', 'stalled'] as const)('tells of an agent that gets again what it %s', (end) => {
    const back = takenBack(assigned(begun(), 'a', 'one', 1), 'a', { end, error: fault }, 2);
    expect(violations(assigned(back, 'a', 'one', 3))).toEqual([
      '"a" of 1@owner was given to one again, which had failed it',
    ]);
  });

  it('lets another coordinator begin where the former had kept it, whatever that had sent, but not give an assignment twice', () => {
    const check = new SwarmCheck();
    const [former, next] = [{}, {}];
    check.see(sentIn(assigned(begun(), 'a', 'one', 1), 'a', { epoch: 1, envelopeId: 'm-0' }).session, former);
    check.see(begun().session, next);
    check.see(assigned(begun(), 'a', 'two', 3).session, next);
    expect(check.violations).toEqual([]);
    check.see(sentIn(assigned(begun(), 'a', 'two', 3), 'a', { epoch: 1, envelopeId: 'm-1' }).session, next);
    check.see(sentIn(assigned(begun(), 'a', 'one', 4), 'a', { epoch: 1, envelopeId: 'm-2' }).session, next);
    expect(check.violations).toEqual(['"a" of 1@owner was given to two and to one in epoch 1']);
  });
});
