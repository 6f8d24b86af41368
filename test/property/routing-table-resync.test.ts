import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { deltaOf, RoutingTable, type TableDelta } from '../../runtime/routing/routing-table.ts';
import type { AgentProfile } from '../../runtime/protocol/agent-row.ts';
import { systemProfile } from '../../runtime/routing/system-profile.ts';
import { ThreadRouter } from '../../runtime/routing/thread-router.ts';
import { FakeClock } from '../fixtures/fake-clock.ts';

const IDS = ['a', 'b', 'c', 'd', 'e', 'system/x', 'system/y'];
const PROFILES: readonly AgentProfile[] = [[], ['x'], ['x', 'y']].map((capabilityIds) => ({
  ...systemProfile('any'),
  capabilityIds,
}));

const arbChange = fc.record({
  upsert: fc.uniqueArray(fc.constantFrom(...IDS), { maxLength: 3 }),
  remove: fc.uniqueArray(fc.constantFrom(...IDS), { maxLength: 2 }),
  profile: fc.constantFrom(...PROFILES),
  isLost: fc.boolean(),
  /** Whether another thread that has heard of it writes before it is heard of here. */
  isSeen: fc.boolean(),
  /** Whether the answer to a request for the whole table comes before the next change. */
  isAnswered: fc.boolean(),
});

/** All that routing reads of a table. */
const seen = (table: RoutingTable) => ({
  version: table.version,
  rows: [...table.rows()].map(({ id, slot, place }) => ({ id, slot, place })),
  offers: ['x', 'y'].map((id) => table.withCapability(id).map((row) => row.id)),
  system: IDS.slice(5).map((id) => table.get(id)?.slot),
});

describe('A thread whose table misses deltas', () => {
  it('has the table of its authority as soon as one more delta and the answer are here', () => {
    fc.assert(
      fc.property(fc.array(arbChange, { maxLength: 20, size: 'max' }), (changes) => {
        const authority = new RoutingTable();
        const table = new RoutingTable();
        let isAsked = false;
        const want = (): void => {
          isAsked = true;
        };
        const router = new ThreadRouter({ table, clock: new FakeClock(), want, onState: () => undefined });
        const answer = (): void => {
          if (isAsked) router.replace(structuredClone(authority.snapshot()));
          isAsked = false;
        };
        const write = (delta: TableDelta, isLost: boolean, isSeen: boolean): void => {
          authority.apply(delta);
          if (isSeen) router.sawVersion(delta.version);
          if (!isLost) router.apply(structuredClone(delta));
        };
        router.replace(authority.snapshot());
        changes.forEach(({ upsert, remove, profile, isLost, isSeen, isAnswered }, slot) => {
          const rows = upsert.map((id) => ({ id, slot, place: `worker-${slot}`, profile, revision: 0 }));
          write(deltaOf(authority.version + 1, rows, remove), isLost, isSeen);
          if (isAnswered) answer();
        });
        write(deltaOf(authority.version + 1, []), false, false);
        answer();
        expect(router.state).toBe('ready');
        expect(seen(table)).toEqual(seen(authority));
      }),
      { numRuns: 500 },
    );
  });
});
