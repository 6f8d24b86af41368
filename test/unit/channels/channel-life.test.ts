import { describe, expect, it } from 'vitest';
import { ChannelStatus } from '../../../runtime/protocol/channel-status.ts';
import type { ChannelLifeEvent } from '../../../runtime/channels/channel.machine.ts';
import { firstChannelStep, nextChannelStep } from '../../../runtime/channels/channel-life.ts';

const EVENTS = [
  'peer.acknowledged',
  'peer.refused',
  'peer.closed',
  'connection.lost',
  'deadline.passed',
  'channel.close',
] as const satisfies readonly ChannelLifeEvent['type'][];

const apart = {
  'peer.acknowledged': ['open', 'resume'],
  'peer.refused': ['closed', 'release'],
  'peer.closed': ['closed', 'release'],
  'deadline.passed': ['closed', 'release'],
  'channel.close': ['closed', 'release'],
} as const;

/** Every step that there is: status and effect. What is not here is refused. */
const STEPS: Record<ChannelStatus, Partial<Record<ChannelLifeEvent['type'], readonly [string, string]>>> = {
  connecting: { ...apart, 'connection.lost': ['connecting', 'dialAgain'] },
  open: {
    'connection.lost': ['reconnecting', 'dial'],
    'peer.closed': ['closed', 'release'],
    'channel.close': ['closed', 'release'],
  },
  reconnecting: { ...apart, 'connection.lost': ['reconnecting', 'dialAgain'] },
  closed: {},
};

describe('the life of a channel (N-P10, C-30)', () => {
  it('begins by dialling', () => {
    expect(firstChannelStep()).toEqual({ status: 'connecting', effects: ['dial'] });
  });

  for (const status of ChannelStatus.options) {
    for (const event of EVENTS) {
      const step = STEPS[status][event];
      if (step === undefined) {
        it(`refuses ${event} when ${status}`, () => {
          expect(() => nextChannelStep(status, event)).toThrow(
            expect.objectContaining({ code: 'REFUSED', details: { status, event } }),
          );
        });
      } else {
        it(`goes from ${status} to ${step[0]} by ${event}`, () => {
          expect(nextChannelStep(status, event)).toEqual({ status: step[0], effects: [step[1]] });
        });
      }
    }
  }
});
