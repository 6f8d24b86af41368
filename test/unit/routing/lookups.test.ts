import { describe, expect, it } from 'vitest';
import { Lookups } from '../../../runtime/routing/lookups.ts';
import type { RemoteQuery } from '../../../runtime/routing/remote-lookup.ts';
import { deltaOf, RoutingTable } from '../../../runtime/routing/routing-table.ts';
import { systemProfile } from '../../../runtime/routing/system-profile.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';

const FAR: RemoteQuery = { kind: 'agent', id: 'far' };

function lookupsOf() {
  const table = new RoutingTable();
  const wanted: RemoteQuery[] = [];
  const lookups = new Lookups({
    clock: new FakeClock(0),
    missMs: 0,
    table,
    want: (query) => wanted.push(query),
  });
  const host = (slot: number): void =>
    table.apply(
      deltaOf(table.version + 1, [
        { id: 'far', slot, place: 'host', profile: systemProfile('far'), revision: 0 },
      ]),
    );
  return { lookups, wanted, host };
}

describe('Lookups of one thread (N-4.4)', () => {
  it('lets what waits go as soon as the table has whom it is for: before anything that is sent later', () => {
    const { lookups, wanted, host } = lookupsOf();
    const gone: string[] = [];
    expect(lookups.isWanted(FAR)).toBe(true);
    const waiting = { whyLeave: () => undefined, fail: () => gone.push('failed') };
    lookups.hold(FAR, { ...waiting, go: () => gone.push('first') });
    // It has been given up meanwhile.
    lookups.hold(FAR, { ...waiting, whyLeave: () => new Error('given up'), go: () => gone.push('never') });
    lookups.hold(FAR, { ...waiting, go: () => gone.push('second') });
    host(-1);
    lookups.tableChanged();
    expect(gone).toEqual([]);
    host(4);
    lookups.tableChanged();
    expect(gone).toEqual(['first', 'failed', 'second']);
    expect({ wanted, held: lookups.held }).toEqual({ wanted: [FAR], held: 0 });
  });

  it('looks nothing up again for whoever waited for it in vain', () => {
    const { lookups, wanted } = lookupsOf();
    const again: boolean[] = [];
    lookups.isWanted(FAR);
    lookups.hold(FAR, {
      whyLeave: () => undefined,
      fail: () => undefined,
      go: () => again.push(lookups.isWanted(FAR)),
    });
    lookups.ended(FAR);
    expect({ again, wanted }).toEqual({ again: [false], wanted: [FAR] });
  });
});
