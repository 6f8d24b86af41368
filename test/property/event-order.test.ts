import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EventOrder } from '../../runtime/protocol/event-order.ts';
import type { SystemEvent } from '../../runtime/protocol/system-event.ts';
import { FakeClock } from '../fixtures/fake-clock.ts';

interface Hop {
  readonly from: number;
  readonly to: number;
  readonly gapMs: number;
  readonly handlingMs: number;
}

const PLACES = ['host', 'worker-1', 'worker-2', 'control'];

/** What threads do, one step after the other: each hop is sent in one place, then received and settled in another. */
const hops = fc.array(
  fc.record({
    from: fc.nat(PLACES.length - 1),
    to: fc.nat(PLACES.length - 1),
    gapMs: fc.nat(3),
    handlingMs: fc.nat(4),
  }),
  { minLength: 1, maxLength: 60 },
);

/** The events of each place in its order, as they happened. */
function happened(list: readonly Hop[]): SystemEvent[] {
  const events: SystemEvent[] = [];
  let nowMs = 1_000;
  for (const [at, { from, to, gapMs, handlingMs }] of list.entries()) {
    nowMs += gapMs;
    const about = { envelopeId: `e${at}`, sender: 'a', recipient: 'b' };
    const sending = { timestamp: nowMs, place: PLACES[from] as string, ...about };
    events.push({ type: 'message-sent', ...sending }, { type: 'routing-decision', ...sending });
    events.push({ type: 'message-received', timestamp: nowMs, place: PLACES[to] as string, ...about });
    nowMs += handlingMs;
    events.push({ type: 'envelope-settled', timestamp: nowMs, place: PLACES[to] as string, ...about });
  }
  return events;
}

/** How they arrive: each place's in its order, those of different places in any. */
function arriving(events: readonly SystemEvent[], picks: readonly number[]): SystemEvent[] {
  const queues = PLACES.map((place) => events.filter((event) => event.place === place));
  const arrived: SystemEvent[] = [];
  for (let at = 0; arrived.length < events.length; at++) {
    const waiting = queues.filter((queue) => queue.length > 0);
    const queue = waiting[(picks[at % picks.length] ?? 0) % waiting.length];
    arrived.push(queue?.shift() as SystemEvent);
  }
  return arrived;
}

const indexes = (released: readonly SystemEvent[], type: SystemEvent['type']): Map<string, number> =>
  new Map(
    released.flatMap((event, at) => (event.type === type ? [[String(event.envelopeId), at] as const] : [])),
  );

describe('EventOrder (F-08)', () => {
  it('has each envelope sent, routed, received and settled in this order, keeps that of each place, and loses nothing', () => {
    fc.assert(
      fc.property(hops, fc.array(fc.nat(100), { minLength: 1, maxLength: 40 }), (list, picks) => {
        const clock = new FakeClock();
        const released: SystemEvent[] = [];
        const order = new EventOrder(clock, (event) => released.push(event));
        const events = happened(list);
        for (const event of arriving(events, picks)) order.add(event);
        order.flush();
        expect(released).toHaveLength(events.length);
        for (const place of PLACES)
          expect(released.filter((event) => event.place === place)).toEqual(
            events.filter((event) => event.place === place),
          );
        const [sent, routed, received, settled] = (
          ['message-sent', 'routing-decision', 'message-received', 'envelope-settled'] as const
        ).map((type) => indexes(released, type));
        for (const [id, at] of received ?? []) {
          expect(sent?.get(id)).toBeLessThan(routed?.get(id) ?? 0);
          expect(routed?.get(id)).toBeLessThan(at);
          expect(settled?.get(id)).toBeGreaterThan(at);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('releases everything by itself, in as many steps as it takes, and then sets no timer', () => {
    fc.assert(
      fc.property(hops, (list) => {
        const clock = new FakeClock();
        const released: SystemEvent[] = [];
        const order = new EventOrder(clock, (event) => released.push(event));
        const events = happened(list).map((event, at) => ({ ...event, timestamp: clock.now() + at }));
        for (const event of events) order.add(event);
        for (let step = 0; step < 20; step++) clock.advance(60);
        expect(released).toHaveLength(events.length);
      }),
      { numRuns: 100 },
    );
  });
});
