import { eventKind } from './event-kind.ts';
import type { SystemEvent } from '../protocol/system-event.ts';

/** Of so many events, a fourth is for security and a fourth for lives, if there are that many. */
const SHARES = 4;

/**
 * The last `limit` of these events, which are in time order, and stay so: but traffic does not push out what is rare. The
 * newest security events have a fourth of the room for themselves, and those about lives another.
 */
export function lastEvents(events: readonly SystemEvent[], limit: number): readonly SystemEvent[] {
  if (events.length <= limit) return events;
  const share = Math.floor(limit / SHARES);
  const left = { security: share, life: share, traffic: 0 };
  const isReserved = new Set<number>();
  for (let at = events.length - 1; at >= 0; at--) {
    const kind = eventKind(events[at] as SystemEvent);
    if (left[kind] === 0) continue;
    left[kind] -= 1;
    isReserved.add(at);
  }
  let room = limit - isReserved.size;
  const kept: SystemEvent[] = [];
  for (let at = events.length - 1; at >= 0; at--) {
    if (!isReserved.has(at) && room === 0) continue;
    if (!isReserved.has(at)) room -= 1;
    kept.push(events[at] as SystemEvent);
  }
  return kept.reverse();
}
