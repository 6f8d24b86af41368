import { describe, expect, it } from 'vitest';
import { ChannelStatus } from '../../../runtime/protocol/channel-status.ts';
import type { ChannelLifeEvent } from '../../../runtime/channels/channel.machine.ts';
import { ChannelCourse } from '../../../runtime/channels/channel-course.ts';

type ChannelEventType = ChannelLifeEvent['type'];

const EVENTS = [
  'peer.acknowledged',
  'peer.refused',
  'peer.closed',
  'connection.lost',
  'deadline.passed',
  'channel.close',
] as const satisfies readonly ChannelEventType[];

const apart = {
  'peer.acknowledged': ['open', 'resume'],
  'peer.refused': ['closed', 'release'],
  'peer.closed': ['closed', 'release'],
  'deadline.passed': ['closed', 'release'],
  'channel.close': ['closed', 'release'],
} as const;

/** Every step that there is: status and effect. What is not here is refused. */
const STEPS: Record<ChannelStatus, Partial<Record<ChannelEventType, readonly [string, string]>>> = {
  connecting: { ...apart, 'connection.lost': ['connecting', 'dialAgain'] },
  open: {
    'connection.lost': ['reconnecting', 'dial'],
    'peer.closed': ['closed', 'release'],
    'channel.close': ['closed', 'release'],
  },
  reconnecting: { ...apart, 'connection.lost': ['reconnecting', 'dialAgain'] },
  closed: {},
};

/** How a channel comes to a status. */
const WAYS: Record<ChannelStatus, readonly ChannelEventType[]> = {
  connecting: [],
  open: ['peer.acknowledged'],
  reconnecting: ['peer.acknowledged', 'connection.lost'],
  closed: ['channel.close'],
};

function channel(onAct: (act: string, course: ChannelCourse) => void = () => undefined) {
  const seen: string[] = [];
  const act = (name: string) => (reason?: string) => {
    seen.push(reason === undefined ? name : `${name}: ${reason}`);
    onAct(name, course);
  };
  const course = new ChannelCourse(
    (event) => {
      if (event.type === 'channel-status') seen.push(`${event.from} to ${event.status}, ${event.reason}`);
    },
    { dial: act('dial'), dialAgain: act('dialAgain'), resume: act('resume'), release: act('release') },
  );
  return { course, seen };
}

function channelIn(status: ChannelStatus) {
  const { course, seen } = channel();
  course.start();
  for (const type of WAYS[status]) course.take(type);
  seen.length = 0;
  return { course, seen };
}

describe('the life of a channel (N-P10, C-30)', () => {
  it('begins by dialling', () => {
    const { course, seen } = channel();
    course.start();
    expect(seen).toEqual(['undefined to connecting, undefined', 'dial']);
    expect(course.status).toBe('connecting');
  });

  for (const status of ChannelStatus.options) {
    for (const event of EVENTS) {
      const step = STEPS[status][event];
      if (step === undefined) {
        it(`refuses ${event} when ${status}`, () => {
          const { course, seen } = channelIn(status);
          expect(() => course.take(event)).toThrow(
            expect.objectContaining({ code: 'REFUSED', details: { status, event } }),
          );
          expect(seen).toEqual([]);
        });
      } else {
        it(`goes from ${status} to ${step[0]} by ${event}`, () => {
          const { course, seen } = channelIn(status);
          course.take(event, 'so it is');
          expect(course.status).toBe(step[0]);
          const told = step[0] === status ? [] : [`${status} to ${step[0]}, so it is`];
          expect(seen).toEqual([...told, step[1] === 'release' ? 'release: so it is' : step[1]]);
        });
      }
    }
  }

  it('is closed by what closes it while it acts, when that is done', () => {
    const { course, seen } = channel((act, self) => {
      if (act === 'dial') self.take('channel.close', 'enough');
    });
    course.start();
    expect(seen).toEqual([
      'undefined to connecting, undefined',
      'dial',
      'connecting to closed, enough',
      'release: enough',
    ]);
  });
});
