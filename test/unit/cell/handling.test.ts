import { describe, expect, it } from 'vitest';
import type { Cell } from '../../../runtime/cell/cell.ts';
import { Handling } from '../../../runtime/cell/handling.ts';
import { TimerWheel } from '../../../runtime/cell/timer-wheel.ts';
import { Mail, NO_ASK } from '../../../runtime/mailbox/mail.ts';
import { cancelled } from '../../../runtime/protocol/errors.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';

/**
 * An envelope in the hands of `mars`, which may take 1,000 ms over one without a deadline. `graceMs`: what its actor says;
 * `cutOffGraceMs`: what its definition says.
 */
function inHand(deadlineAtMs: number, graceMs?: number, cutOffGraceMs?: number) {
  const clock = new FakeClock(0);
  const crashes: string[] = [];
  const cell = {
    row: { id: 'mars' },
    handlingTimeoutMs: 1_000,
    lives: { current: { graceMs } },
    definition: { cutOffGraceMs },
    thread: { seams: { clock }, wheel: new TimerWheel(clock), asks: { close: () => undefined } },
    crash: (error: Error) => void crashes.push(error.message),
  } as unknown as Cell;
  const [from, to] = ['sun', 'mars'];
  const mail = new Mail(
    'm',
    '',
    0,
    from,
    to,
    undefined,
    0,
    null,
    undefined,
    deadlineAtMs,
    NO_ASK,
    undefined,
    undefined,
  );
  return { clock, crashes, handling: new Handling(cell, mail) };
}

describe('A handling', () => {
  it.each([
    ['until the deadline of its envelope', 500, 500],
    ['as long as its agent may take, without one', 0, 1_000],
  ])('that is watched has time %s', (_, deadlineAtMs, untilMs) => {
    const { clock, handling } = inHand(deadlineAtMs);
    const { signal } = handling;
    handling.watch();
    clock.advance(untilMs - 20);
    expect(signal.aborted).toBe(false);
    clock.advance(40);
    expect(signal.aborted).toBe(true);
    expect(handling.cutShort?.code).toBe('DEADLINE_EXCEEDED');
  });

  it('that goes on after it was cut off ends its actor 100 ms later', () => {
    const { clock, crashes, handling } = inHand(0);
    handling.cutOff(cancelled('It'));
    clock.advance(90);
    expect(crashes).toEqual([]);
    clock.advance(30);
    expect(crashes).toEqual(['it did not stop 100 ms after It was cancelled']);
  });

  it.each([
    ['actor', 1_000, undefined],
    ['definition', undefined, 1_000],
  ])('has as long for that as its %s needs', (_, graceMs, cutOffGraceMs) => {
    const { clock, crashes, handling } = inHand(0, graceMs, cutOffGraceMs);
    handling.cutOff(cancelled('It'));
    clock.advance(980);
    expect(crashes).toEqual([]);
    clock.advance(40);
    expect(crashes).toEqual(['it did not stop 1000 ms after It was cancelled']);
  });

  it('that ends after it was cut off ends nothing else', () => {
    const { clock, crashes, handling } = inHand(0);
    handling.cutOff(cancelled('It'));
    handling.end();
    clock.advance(1_000);
    expect(crashes).toEqual([]);
  });

  it('that only waits for the journal had time enough', () => {
    const { clock, crashes, handling } = inHand(0);
    handling.keeps(1);
    expect(handling.awaitsJournal(() => {})).toBe(true);
    handling.cutOff(cancelled('It'));
    clock.advance(1_000);
    expect([crashes, handling.cutShort]).toEqual([[], undefined]);
  });
});
