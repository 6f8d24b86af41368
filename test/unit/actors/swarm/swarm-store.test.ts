import { describe, expect, it } from 'vitest';
import { notSerialisable } from '../../../../runtime/protocol/errors.ts';
import { SwarmRecord } from '../../../../actors/swarm/swarm-record.ts';
import { journalledSwarms, Owner, Records } from './durable-owner.ts';
import { planOf, recordOf } from './swarm-records.ts';

describe('A store of journalled swarms', () => {
  const recordAt = (createdAt: number, status: 'active' | 'completed' = 'active') => {
    const record = recordOf(planOf('x'));
    return { ...record, session: { ...record.session, id: `${createdAt}@owner`, createdAt, status } };
  };

  it('gives back what a former one has kept, in order', () => {
    const records = new Records();
    const store = journalledSwarms(records);
    for (const at of [9, 10, 8]) void store.put(recordAt(at));
    // One of before says nothing of it.
    const behalf = {
      requester: { principalId: 'eve', tenant: 'acme', roles: [] },
      outsider: { name: 'eve', key: [-7, 3] as const },
    };
    const kept = { ...recordAt(9), justification: 'why', behalf };
    void store.put(kept);
    const next = journalledSwarms(records).list();
    expect(next.map(({ session }) => session.createdAt)).toEqual([8, 9, 10]);
    expect(next[1]).toEqual(SwarmRecord.parse(JSON.parse(JSON.stringify(kept))));
    expect(next[1]?.behalf).toEqual(behalf);
  });

  it('takes what it forgets out of the journal', () => {
    const records = new Records();
    const store = journalledSwarms(records, [], 2);
    void store.put(recordAt(0));
    for (let at = 1; at < 6; at += 1) void store.put(recordAt(at, 'completed'));
    expect([...records.kept.keys()]).toEqual(['0@owner', '4@owner', '5@owner']);
    expect(store.list()).toHaveLength(3);
  });

  it('tells of what it cannot read, leaves it, and reads the others', () => {
    const records = new Records();
    void journalledSwarms(records).put(recordAt(1));
    records.put('swarm', '2@owner', { session: 'torn' });
    const problems: unknown[] = [];
    expect(journalledSwarms(records, problems).list()).toHaveLength(1);
    expect(problems).toMatchObject([['2@owner', expect.stringContaining('session')]]);
    expect(records.kept.has('2@owner')).toBe(true);
  });

  it('reads what was written before records said their version, and names one that it does not know', () => {
    const records = new Records();
    const { version: _none, ...before } = recordAt(1);
    records.put('swarm', '1@owner', before);
    records.put('swarm', '2@owner', { ...recordAt(2), version: 2 });
    const problems: [string, string][] = [];
    expect(journalledSwarms(records, problems).list()).toEqual([SwarmRecord.parse(recordAt(1))]);
    expect(problems).toMatchObject([['2@owner', expect.stringContaining('version')]]);
    expect(records.kept.has('2@owner')).toBe(true);
  });

  it('refuses what JSON cannot say, and keeps what it had', async () => {
    const owner = new Owner();
    const put = owner.records.put.bind(owner.records);
    owner.records.put = (kind, key, value) => {
      if (JSON.stringify(value)?.includes('unsayable') === true) throw new Error('NOT_SERIALISABLE');
      put(kind, key, value);
    };
    const task = { taskDescription: 'T', requiredCapabilities: ['x'] };
    const made = owner.owned.create(owner.reach, task, { sharedState: { at: 'unsayable' } });
    await expect(made).rejects.toThrow('NOT_SERIALISABLE');
    expect(owner.owned.list()).toEqual([]);
    expect(owner.records.kept.size).toBe(0);
    expect(owner.clock.pending).toBe(0);
  });

  it('that can never keep a result has it fail, and goes on with what it had', async () => {
    const owner = new Owner();
    const put = owner.records.put.bind(owner.records);
    owner.records.put = (kind, key, value) => {
      if (JSON.stringify(value)?.includes('"unsayable"') === true)
        throw notSerialisable('result', 'too much');
      put(kind, key, value);
    };
    const { id } = await owner.create(1);
    await owner.clock.advanceAsync(1);
    const [first] = owner.handed;
    first?.reports.progressed({ partial: 'unsayable' });
    first?.reports.completed('unsayable');
    await owner.clock.advanceAsync(1);
    expect(owner.subTask(id)?.assignments).toMatchObject([
      { agentId: 'mars', end: 'failed', error: { code: 'NOT_SERIALISABLE' } },
      { agentId: 'venus' },
    ]);
    owner.handed[1]?.reports.completed('sayable');
    expect(owner.owned.get(id)).toMatchObject({ status: 'completed', result: { a: 'sayable' } });
  });
});
