import type { WaitingSend } from '../../../runtime/mailbox/waiting-send.ts';
import { describe, expect, it } from 'vitest';
import { deltaOf, RoutingTable, type TableDelta } from '../../../runtime/routing/routing-table.ts';
import { systemProfile } from '../../../runtime/routing/system-profile.ts';
import { ThreadRouter } from '../../../runtime/routing/thread-router.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';

const profile = systemProfile('any');

/** A router, and a control thread that orders the changes of the table and may lose what it says. */
function setUp() {
  const clock = new FakeClock();
  const authority = new RoutingTable();
  const table = new RoutingTable();
  const states: string[] = [];
  const asked: number[] = [];
  const router = new ThreadRouter({
    table,
    clock,
    want: () => asked.push(clock.monotonicMs()),
    onState: (state) => states.push(state),
  });
  const change = (upsert: readonly string[], remove: readonly string[] = []): TableDelta => {
    const rows = upsert.map((id) => ({ id, slot: 0, place: 'worker-1', profile, revision: 0 }));
    const delta = structuredClone(deltaOf(authority.version + 1, rows, remove));
    authority.apply(delta);
    return delta;
  };
  const whole = (): TableDelta => structuredClone(authority.snapshot());
  const ids = () => [...table.rows()].map(({ id }) => id);
  return { clock, table, router, states, asked, change, whole, ids };
}

const noticing = (log: string[], name: string, whyLeave: () => Error | undefined = () => undefined) =>
  ({
    go: () => log.push(`${name} goes`),
    whyLeave,
    fail: ({ message }) => log.push(`${name}: ${message}`),
  }) satisfies WaitingSend;

describe('ThreadRouter', () => {
  it('is ready when the first table is here, and applies what follows it', () => {
    const { router, states, change, whole, ids, asked } = setUp();
    expect(router).toMatchObject({ state: 'syncing', isOpen: true, isBehind: true, isStopped: false });
    change(['a']);
    router.replace(whole());
    expect(router).toMatchObject({ state: 'ready', isOpen: true, isBehind: false });
    router.apply(change(['b'], ['a']));
    expect(ids()).toEqual(['b']);
    expect(states).toEqual(['ready']);
    expect(asked).toEqual([]);
  });

  it('asks for the whole table when a delta was lost, and is then as up to date as its authority', () => {
    const { table, router, states, change, whole, ids, asked } = setUp();
    change(['a', 'b']);
    router.replace(whole());
    const b = table.get('b');
    change(['c'], ['a']);
    router.apply(change(['d']));
    expect({ asked: asked.length, ids: ids(), isBehind: router.isBehind }).toEqual({
      asked: 1,
      ids: ['a', 'b'],
      isBehind: true,
    });
    router.apply(change(['e']));
    expect(asked).toHaveLength(1);
    router.replace(whole());
    expect(ids()).toEqual(['b', 'c', 'd', 'e']);
    expect(table.get('b')).toBe(b);
    router.apply(change(['f']));
    expect({ ids: ids(), version: table.version }).toEqual({ ids: ['b', 'c', 'd', 'e', 'f'], version: 5 });
    expect(states).toEqual(['ready', 'syncing', 'ready']);
  });

  it('knows rows ahead of their delta, which then follows all the same', () => {
    const { router, change, whole, ids, asked } = setUp();
    router.replace(whole());
    const later = change(['hosted']);
    router.enter(later);
    expect(ids()).toEqual(['hosted']);
    router.apply(later);
    expect({ state: router.state, ids: ids(), asked }).toEqual({
      state: 'ready',
      ids: ['hosted'],
      asked: [],
    });
  });

  it('asks again when the table does not come', () => {
    const { clock, router, change, whole, asked } = setUp();
    router.replace(whole());
    change(['a']);
    router.apply(change(['b']));
    for (let at = 0; at < 25; at++) {
      clock.advance(100);
      router.sweep(clock.now());
    }
    expect(asked).toEqual([0, 1_000, 2_000]);
    router.replace(whole());
    clock.advance(5_000);
    router.sweep(clock.now());
    expect(asked).toHaveLength(3);
  });

  it('awaits what another thread knows already, and asks for the table when it does not come', () => {
    const { clock, table, router, states, change, whole, ids, asked } = setUp();
    router.replace(whole());
    const deltas = ['a', 'b', 'c'].map((id) => change([id]));
    router.sawVersion(2);
    router.sawVersion(1);
    expect(router).toMatchObject({ state: 'awaiting', isOpen: true, isBehind: true });
    router.apply(deltas[0] as TableDelta);
    expect(router.isBehind).toBe(true);
    router.apply(deltas[1] as TableDelta);
    expect({ state: router.state, ids: ids(), asked }).toEqual({
      state: 'ready',
      ids: ['a', 'b'],
      asked: [],
    });
    router.sawVersion(table.version);
    expect(router.state).toBe('ready');
    router.drain();
    router.sawVersion(3);
    for (let at = 0; at < 15; at++) {
      clock.advance(100);
      router.sweep(clock.now());
    }
    expect({ state: router.state, asked }).toEqual({ state: 'draining.syncing', asked: [1_000] });
    router.replace(whole());
    expect(ids()).toEqual(['a', 'b', 'c']);
    expect(states.slice(1)).toEqual([
      'awaiting',
      'ready',
      'draining',
      'draining.awaiting',
      'draining.syncing',
      'draining',
    ]);
  });

  it('lets sends that wait for the table go in their order when it is here', () => {
    const { clock, router, change, whole } = setUp();
    const log: string[] = [];
    router.replace(whole());
    change(['a']);
    router.apply(change(['b']));
    router.hold(noticing(log, 'one'));
    router.hold(noticing(log, 'two', () => new Error('too late')));
    router.hold(noticing(log, 'three'));
    expect(router.held).toBe(3);
    clock.advance(100);
    router.sweep(clock.now());
    expect(log).toEqual(['two: too late']);
    router.replace(whole());
    expect(log).toEqual(['two: too late', 'one goes', 'three goes']);
    expect(router.held).toBe(0);
  });

  it('holds 1,000 sends, and fails them when it is stopped', () => {
    const { router } = setUp();
    const log: string[] = [];
    for (let n = 0; n < 1_000; n++) expect(router.hold(noticing(log, `${n}`))).toBe(true);
    expect(router.hold(noticing(log, 'one more'))).toBe(false);
    router.stop(new Error('it was stopped'));
    expect(log).toHaveLength(1_000);
    expect(log[999]).toBe('999: it was stopped');
  });

  it('is closed while it drains, and follows the table, over a lost delta too', () => {
    const { router, states, change, whole, ids } = setUp();
    router.replace(whole());
    router.drain();
    expect(router).toMatchObject({ state: 'draining', isOpen: false, isBehind: false, isStopped: false });
    router.apply(change(['a']));
    change(['b']);
    router.apply(change(['c']));
    expect(router).toMatchObject({ isOpen: false, isBehind: true });
    router.replace(whole());
    expect(ids()).toEqual(['a', 'b', 'c']);
    router.drain();
    router.stop(new Error('it was stopped'));
    expect(router).toMatchObject({ isOpen: false, isBehind: false, isStopped: true });
    router.apply(change(['d']));
    expect(ids()).toEqual(['a', 'b', 'c']);
    expect(states).toEqual(['ready', 'draining', 'draining.syncing', 'draining', 'stopped']);
  });
});
