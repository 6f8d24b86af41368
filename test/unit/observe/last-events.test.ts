import { describe, expect, it } from 'vitest';
import { lastEvents } from '../../../runtime/observe/observability.ts';
import type { SystemEvent } from '../../../runtime/protocol/system-event.ts';

const sent = (timestamp: number): SystemEvent => ({ type: 'message-sent', timestamp });
const crash = (timestamp: number): SystemEvent => ({ type: 'agent-crashed', timestamp });
const refused = (timestamp: number): SystemEvent => ({
  type: 'routing-decision',
  timestamp,
  success: false,
  security: true,
});
const crossed = (timestamp: number): SystemEvent => ({ ...refused(timestamp), success: true });

const times = (events: readonly SystemEvent[]): number[] => events.map(({ timestamp }) => timestamp);

describe('the last events', () => {
  it('are all of them where there is room, and none where there is none', () => {
    const events = [crash(1), sent(2)];
    expect(lastEvents(events, 2)).toEqual(events);
    expect(lastEvents(events, 0)).toEqual([]);
  });

  it('have those of lives and of security among them, however much traffic came after', () => {
    const traffic = Array.from({ length: 100 }, (_, at) => (at % 2 === 0 ? sent(at) : crossed(at)));
    const last = lastEvents([refused(-2), crash(-1), ...traffic], 12);
    expect(times(last)).toEqual([-2, -1, 90, 91, 92, 93, 94, 95, 96, 97, 98, 99]);
  });

  it('are at most as many as were asked for, and keep the newest of each kind', () => {
    const events = Array.from(
      { length: 100 },
      (_, at) => [crash, refused, sent, sent][at % 4]?.(at) as SystemEvent,
    );
    expect(
      times(lastEvents([...events, ...Array.from({ length: 9 }, (_, at) => sent(100 + at))], 8)),
    ).toEqual([92, 93, 96, 97, 105, 106, 107, 108]);
    expect(lastEvents(events, 3)).toHaveLength(3);
  });
});
