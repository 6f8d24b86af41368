import { describe, expect, it } from 'vitest';
import { deltaOf, RoutingTable, type RowData } from '../../../runtime/routing/routing-table.ts';
import type { AgentProfile } from '../../../runtime/protocol/agent-row.ts';
import { cardOf, offers } from './standalone-team.ts';

const profileOf = (id: string, ...capabilityIds: string[]): AgentProfile => ({
  card: cardOf(id, { tier: 2, sandboxId: 'box', ...offers(...capabilityIds) }),
  capabilityIds,
  delivery: 'once',
  mailboxCapacity: 1_000,
  lazy: false,
  durable: false,
});

const rowOf = (id: string, profile: number, fields: Partial<RowData> = {}): RowData => ({
  id,
  slot: 0,
  place: 'worker-1',
  profile,
  revision: 0,
  ...fields,
});

function tableOf(rows: Record<string, readonly string[]>): RoutingTable {
  const table = new RoutingTable();
  const entries = Object.entries(rows);
  table.apply({
    version: 1,
    profiles: entries.map(([id, ids]) => profileOf(id, ...ids)),
    upsert: entries.map(([id], index) => rowOf(id, index, { slot: index })),
    remove: [],
  });
  return table;
}

const idsOf = (rows: Iterable<{ readonly id: string }>): string[] => Array.from(rows, ({ id }) => id);

describe('RoutingTable', () => {
  it('finds an agent by id, with its party as its profile says', () => {
    const table = tableOf({ mars: ['types.check'] });
    expect(table.get('mars')).toMatchObject({ id: 'mars', slot: 0, place: 'worker-1', revision: 0 });
    expect(table.get('mars')?.party).toMatchObject({
      id: 'mars',
      tier: 2,
      sandboxId: 'box',
      isSystem: false,
    });
    expect(table.get('venus')).toBeUndefined();
    expect({ version: table.version, size: table.size }).toEqual({ version: 1, size: 1 });
  });

  it('keeps the order of registration among those who offer a capability, whatever changes', () => {
    const table = tableOf({ a: ['x'], b: ['y'], c: ['x'], d: ['x'] });
    expect(idsOf(table.withCapability('x'))).toEqual(['a', 'c', 'd']);
    const both = { version: 2, profiles: [profileOf('b', 'x', 'y')], upsert: [rowOf('b', 0)], remove: [] };
    table.apply(both);
    expect(idsOf(table.withCapability('x'))).toEqual(['a', 'b', 'c', 'd']);
    table.apply({ version: 3, profiles: [profileOf('e', 'x')], upsert: [rowOf('e', 0)], remove: ['c'] });
    expect(idsOf(table.withCapability('x'))).toEqual(['a', 'b', 'd', 'e']);
    expect(idsOf(table.withCapability('y'))).toEqual(['b']);
    expect(idsOf(table.rows())).toEqual(['a', 'b', 'd', 'e']);
  });

  it('puts an agent that was removed and came back last', () => {
    const table = tableOf({ a: ['x'], b: ['x'] });
    table.apply({ version: 2, profiles: [profileOf('a', 'x')], upsert: [rowOf('a', 0)], remove: ['a'] });
    expect(idsOf(table.withCapability('x'))).toEqual(['b', 'a']);
    expect(table.size).toBe(2);
  });

  it('becomes the table of a snapshot, in its order; who is in both keeps the row object', () => {
    const table = tableOf({ a: ['x'], b: ['x'], c: ['x'], 'system/one': [] });
    const a = table.get('a');
    const other = tableOf({ c: ['x'], d: ['x'], a: ['x', 'y'], 'system/two': [] });
    other.apply({ version: 9, profiles: [], upsert: [], remove: [] });
    table.replace(structuredClone(other.snapshot()));
    expect(idsOf(table.rows())).toEqual(['c', 'd', 'a']);
    expect(idsOf(table.withCapability('x'))).toEqual(['c', 'd', 'a']);
    expect(idsOf(table.withCapability('y'))).toEqual(['a']);
    expect(table.get('a')).toBe(a);
    expect(table.get('system/one')).toBeUndefined();
    expect(table.snapshot()).toEqual(other.snapshot());
  });

  it('knows what is not ordered yet under the version that it has', () => {
    const table = tableOf({ a: ['x'] });
    table.enter({ profiles: [profileOf('b', 'x')], upsert: [rowOf('b', 0)], remove: ['a'] });
    expect({ version: table.version, ids: idsOf(table.rows()) }).toEqual({ version: 1, ids: ['b'] });
  });

  it('forgets a capability that nobody offers any more', () => {
    const table = tableOf({ a: ['x'] });
    table.apply({ version: 2, profiles: [], upsert: [], remove: ['a', 'never-there'] });
    expect(table.withCapability('x')).toEqual([]);
    expect(table.get('a')).toBeUndefined();
  });

  it('moves an agent without making a new row', () => {
    const table = tableOf({ a: ['x'] });
    const row = table.get('a');
    table.apply({
      version: 2,
      profiles: [profileOf('a', 'z')],
      upsert: [rowOf('a', 0, { place: 'worker-2', revision: 4 })],
      remove: [],
    });
    expect(table.get('a')).toBe(row);
    expect(row).toMatchObject({ place: 'worker-2', revision: 4 });
    expect(row?.profile.capabilityIds).toEqual(['z']);
    expect(idsOf(table.withCapability('x'))).toEqual([]);
  });

  it('keeps agents of one profile in order when they leave and return', () => {
    const table = new RoutingTable();
    const [shared, other] = [profileOf('shared', 'x'), profileOf('other', 'x')];
    const upsert = ['a', 'b', 'c'].map((id) => rowOf(id, 0));
    table.apply({ version: 1, profiles: [shared], upsert, remove: [] });
    table.apply({ version: 2, profiles: [other], upsert: [rowOf('a', 0)], remove: [] });
    table.apply({ version: 3, profiles: [shared], upsert: [rowOf('a', 0)], remove: [] });
    expect(idsOf(table.withCapability('x'))).toEqual(['a', 'b', 'c']);
    table.apply({ version: 4, profiles: [other], upsert: [rowOf('c', 0), rowOf('a', 0)], remove: [] });
    expect(idsOf(table.withCapability('x'))).toEqual(['a', 'b', 'c']);
    table.apply({ version: 5, profiles: [other], upsert: [rowOf('b', 0)], remove: [] });
    expect(idsOf(table.withCapability('x'))).toEqual(['a', 'b', 'c']);
  });

  it('judges by the clearance of a profile before its card', () => {
    const table = new RoutingTable();
    const profile = {
      ...profileOf('far'),
      clearance: { tier: 3, sandboxId: undefined, nodeId: 'one' },
    } as const;
    table.apply({ version: 1, profiles: [profile], upsert: [rowOf('far', 0)], remove: [] });
    expect(table.get('far')?.party).toMatchObject({ tier: 3, sandboxId: undefined });
  });

  it('finds system actors by id alone (C-31)', () => {
    const table = tableOf({ a: ['x'] });
    const profile = profileOf('system/host', 'x');
    table.apply({ version: 2, profiles: [profile], upsert: [rowOf('system/host', 0)], remove: [] });
    expect(table.get('system/host')?.party.isSystem).toBe(true);
    expect(idsOf(table.rows())).toEqual(['a']);
    expect(idsOf(table.withCapability('x'))).toEqual(['a']);
    expect(table.size).toBe(1);
    expect(idsOf(table.snapshot().upsert)).toEqual(['a', 'system/host']);
    table.apply({ version: 3, profiles: [], upsert: [], remove: ['system/host'] });
    expect(table.get('system/host')).toBeUndefined();
  });

  it('is the same after its snapshot was cloned into another thread', () => {
    const table = tableOf({ a: ['x', 'y'], b: [], c: ['x'] });
    const copy = new RoutingTable();
    copy.apply(structuredClone(table.snapshot()));
    expect(copy.snapshot()).toEqual(table.snapshot());
    expect(idsOf(copy.withCapability('x'))).toEqual(['a', 'c']);
    expect(copy.version).toBe(1);
  });

  it('says a shared profile once in a delta', () => {
    const table = new RoutingTable();
    const upsert = ['a', 'b', 'c'].map((id) => rowOf(id, 0));
    table.apply({ version: 1, profiles: [profileOf('template')], upsert, remove: [] });
    expect(table.snapshot().profiles).toHaveLength(1);
    expect(deltaOf(2, table.rows(), ['z'])).toMatchObject({ version: 2, remove: ['z'], upsert });
  });

  it('refuses a delta whose row has no profile', () => {
    const run = () =>
      new RoutingTable().apply({ version: 1, profiles: [], upsert: [rowOf('a', 0)], remove: [] });
    expect(run).toThrow(expect.objectContaining({ code: 'INVALID_OPTIONS' }));
  });
});
