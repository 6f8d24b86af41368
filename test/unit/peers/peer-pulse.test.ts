import { describe, expect, it } from 'vitest';
import { PeerPulse } from '../../../runtime/peers/peer-pulse.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';

function started() {
  const clock = new FakeClock();
  const asked: number[] = [];
  const pulse = new PeerPulse({ clock, ping: (n) => asked.push(n) });
  pulse.start();
  const answeredAfter = (ms: number): void => {
    clock.advance(ms);
    pulse.answered(asked.at(-1) as number);
  };
  return { clock, asked, pulse, answeredAfter };
}

describe('PeerPulse (N-3.6)', () => {
  it('knows the median of the last five round trips, and nothing before the first', () => {
    const { clock, pulse, answeredAfter } = started();
    expect(pulse.roundTripMs).toBeUndefined();
    for (const [ms, median] of [
      [900, 900],
      [10, 900],
      [20, 20],
      [30, 30],
      [40, 30],
      [50, 30],
    ] as const) {
      answeredAfter(ms);
      expect(pulse.roundTripMs).toBe(median);
      clock.advance(5_000);
    }
  });

  it('asks a node that does not answer again after a minute, and takes no answer to something else', () => {
    const { clock, asked, pulse } = started();
    pulse.answered(7);
    clock.advance(59_000);
    pulse.start();
    expect(asked).toEqual([0]);
    clock.advance(1_000);
    expect(asked).toEqual([0, 1]);
    pulse.answered(0);
    expect(pulse.roundTripMs).toBeUndefined();
    clock.advance(30);
    pulse.answered(1);
    expect([pulse.roundTripMs, clock.pending]).toEqual([30, 1]);
  });

  it('leaves no timer when it is stopped', () => {
    const { clock, asked, pulse, answeredAfter } = started();
    answeredAfter(10);
    pulse.stop();
    expect(clock.pending).toBe(0);
    pulse.answered(0);
    expect(asked).toEqual([0]);
  });
});
