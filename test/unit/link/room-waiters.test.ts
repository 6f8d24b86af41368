import { describe, expect, it } from 'vitest';
import { LANE } from '../../../runtime/mailbox/mail.ts';
import { RoutingTable, deltaOf } from '../../../runtime/routing/routing-table.ts';
import { systemProfile } from '../../../runtime/routing/system-profile.ts';
import { RoomWaiters } from '../../../runtime/link/room-waiters.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';

function setUp() {
  const clock = new FakeClock();
  const table = new RoutingTable();
  const profile = systemProfile('x');
  const rowData = (id: string, slot: number) => ({ id, slot, place: 'worker-1', profile, revision: 0 });
  table.apply(deltaOf(1, [rowData('a', 0), rowData('b', 1)]));
  const rows = { a: table.get('a'), b: table.get('b') } as Record<
    'a' | 'b',
    NonNullable<ReturnType<RoutingTable['get']>>
  >;
  const room = { a: 0, b: 0 };
  const wanted: string[] = [];
  const waiters = new RoomWaiters({
    clock,
    hasRoom: ({ id }) => room[id as 'a' | 'b'] > 0,
    want: ({ id }) => wanted.push(id),
  });
  const log: string[] = [];
  const wait = (at: 'a' | 'b', name: string, whyLeave: () => Error | undefined = () => undefined): void =>
    waiters.add(rows[at], LANE.user, {
      go: () => {
        room[at] -= 1;
        log.push(name);
      },
      whyLeave,
      fail: ({ message }) => log.push(`${name}: ${message}`),
    });
  return { clock, rows, room, wanted, waiters, log, wait, table, rowData };
}

describe('RoomWaiters', () => {
  it('lets as many go as there is room for, first come, first served', () => {
    const { room, waiters, wait, log, rows } = setUp();
    for (const name of ['1', '2', '3', '4']) wait('a', name);
    wait('b', 'other');
    room.a = 2;
    waiters.wake();
    expect(log).toEqual(['1', '2']);
    expect(waiters.isAwaited(rows.a, LANE.user)).toBe(true);
    expect(waiters.isAwaited(rows.a, LANE.system)).toBe(false);
    room.a = 5;
    waiters.wake();
    expect(log).toEqual(['1', '2', '3', '4']);
    expect(waiters.size).toBe(1);
  });

  it('asks to be told as long as somebody waits, and looks again by itself', () => {
    const { clock, room, wait, log, wanted } = setUp();
    wait('a', '1');
    wait('a', '2');
    expect(wanted).toEqual(['a', 'a']);
    room.a = 1;
    clock.advance(20);
    expect(log).toEqual(['1']);
    expect(wanted).toHaveLength(3);
    room.a = 1;
    clock.advance(20);
    expect(log).toEqual(['1', '2']);
    clock.advance(100);
    expect(wanted).toHaveLength(3);
  });

  it('goes at once where there is room by now', () => {
    const { room, wait, log, waiters } = setUp();
    room.b = 1;
    wait('b', '1');
    expect(log).toEqual(['1']);
    expect(waiters.size).toBe(0);
  });

  it('has whoever wants room of an agent that came back under its id wait for its new mailbox', () => {
    const { room, wait, log, waiters, rows, table, rowData } = setUp();
    const before = rows.a;
    wait('a', 'first', () => undefined);
    table.apply({ ...deltaOf(2, []), remove: ['a'] });
    table.apply(deltaOf(3, [rowData('a', 7)]));
    rows.a = table.get('a') as typeof before;
    wait('a', 'second');
    expect(waiters.size).toBe(2);
    room.a = 2;
    waiters.wake();
    expect(log).toEqual(['first', 'second']);
  });

  it('does not let go who waits no longer, and has not been sent away yet', () => {
    const { room, wait, log, waiters } = setUp();
    let why: Error | undefined;
    wait('a', '1', () => why);
    wait('a', '2');
    why = new Error('given up');
    room.a = 1;
    waiters.wake();
    expect(log).toEqual(['1: given up', '2']);
  });

  it('sends away who waits no longer, and everybody when it closes', () => {
    const { clock, wait, log, waiters } = setUp();
    let why: Error | undefined;
    wait('a', '1');
    wait('a', '2', () => why);
    wait('b', '3');
    why = new Error('too late');
    clock.advance(20);
    expect(log).toEqual(['2: too late']);
    waiters.close();
    wait('a', '4');
    expect(log.slice(1).map((line) => line.split(':')[0])).toEqual(['1', '3', '4']);
    expect(log.at(-1)).toContain('The system is stopped');
    expect(waiters.size).toBe(0);
  });
});
