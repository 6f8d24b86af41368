import { describe, expect, it } from 'vitest';
import { ReceiveWindow } from '../../../runtime/channels/channel-receiver.ts';
import { numbered } from '../../fixtures/channel-pair.ts';

describe('what a channel has received', () => {
  it('has room again for the bytes of what was taken, and of what was passed over', () => {
    const window = new ReceiveWindow(8, 100);
    for (let round = 0; round < 20; round++) {
      const next = window.received;
      expect(window.keep(next + 1, numbered(next + 1), 60)).toBe('kept');
      expect(window.keep(next + 2, numbered(next + 2), 60)).toBe('overflow');
      expect(window.keep(next, numbered(next), 60)).toBe('kept');
      expect([window.withdraw(next), window.passedOver]).toEqual([true, next]);
      expect(window.take()?.id).toBe(`mars-${next + 1}`);
    }
  });

  it('passes over what never came', () => {
    const window = new ReceiveWindow(8, 100);
    window.keep(1, numbered(1), 10);
    expect([window.take(), window.withdraw(0), window.take()?.id]).toEqual([undefined, true, 'mars-1']);
    expect([window.received, window.passedOver, window.withdraw(3)]).toEqual([2, 0, false]);
  });
});
