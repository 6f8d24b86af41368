import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import {
  SequenceWindow,
  SessionNumbers,
  SessionSequences,
  sessionSequence,
} from '../../../runtime/protocol/session-sequence.ts';
import type { A2AEnvelope } from '../../../runtime/protocol/envelope.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

const envelope = (sequence: number, id = 's1'): A2AEnvelope => ({
  id: `e${sequence}`,
  schemaVersion: 1,
  sender: 'mars',
  recipient: 'venus',
  type: 'request',
  timestamp: 1,
  payload: {},
  session: { id, sequence },
});

describe('SequenceWindow', () => {
  it('takes 0, 1, 2 as what was awaited', () => {
    const window = new SequenceWindow();
    expect([0, 1, 2].map((sequence) => window.take(sequence).kind)).toEqual(['next', 'next', 'next']);
    expect(window.next).toBe(3);
  });

  it('finds a gap if the first number is not 0 (C-04)', () => {
    expect(new SequenceWindow().take(1)).toEqual({ kind: 'gap', from: 0, missing: 1 });
  });

  it('says how much is missing, and takes that late, once', () => {
    const window = new SequenceWindow();
    window.take(0);
    expect(window.take(3)).toEqual({ kind: 'gap', from: 1, missing: 2 });
    expect([2, 1, 1, 2, 3, 4].map((sequence) => window.take(sequence).kind)).toEqual([
      'late',
      'late',
      'duplicate',
      'duplicate',
      'duplicate',
      'next',
    ]);
  });

  it('does not take again what is below the window', () => {
    const window = new SequenceWindow(32);
    window.take(0);
    window.take(100);
    expect(window.take(68).kind).toBe('stale');
    expect(window.take(69).kind).toBe('late');
    expect(window.take(0).kind).toBe('stale');
  });

  it('goes as far as whole numbers do', () => {
    const window = new SequenceWindow(32);
    expect(window.take(Number.MAX_SAFE_INTEGER).kind).toBe('gap');
    expect(window.take(Number.MAX_SAFE_INTEGER).kind).toBe('duplicate');
    expect(window.take(Number.MAX_SAFE_INTEGER - 1).kind).toBe('late');
  });

  it.each([-1, 0.5, Number.NaN, Number.MAX_SAFE_INTEGER + 1])(
    'refuses %s, naming field and value',
    (wrong) => {
      expect(() => new SequenceWindow().take(wrong)).toThrow(/^sequence is .*, expected a whole number/);
    },
  );

  it.each([0, 31, 33, -32])('refuses a window of %s', (window) => {
    expect(() => new SequenceWindow(window)).toThrow(/^window is /);
  });
});

describe('SessionSequences', () => {
  it('counts each session apart', () => {
    const sequences = new SessionSequences();
    expect(sequences.take('a', 0).kind).toBe('next');
    expect(sequences.take('b', 0).kind).toBe('next');
    expect(sequences.take('a', 0).kind).toBe('duplicate');
  });

  it('remembers so many sessions, and forgets the one unused for longest', () => {
    const sequences = new SessionSequences({ maxSessions: 2 });
    sequences.take('a', 0);
    sequences.take('b', 0);
    sequences.take('a', 1);
    sequences.take('c', 0);
    expect(sequences.size).toBe(2);
    expect(sequences.take('a', 0).kind).toBe('duplicate');
    expect(sequences.take('b', 1).kind).toBe('gap');
  });

  it('needs no more memory after a million gaps (M-03)', () => {
    const sequences = new SessionSequences();
    const gaps = (from: number, to: number): void => {
      for (let at = from; at < to; at++)
        if (sequences.take('a', 2 * at + 1).kind !== 'gap') throw new Error(`no gap at ${at}`);
    };
    const keptBytes = (): number => {
      collect();
      const { heapUsed, external } = process.memoryUsage();
      return heapUsed + external;
    };
    gaps(0, 10_000);
    const before = keptBytes();
    gaps(10_000, 1_000_000);
    expect(keptBytes() - before).toBeLessThan(1_000_000);
    expect(sequences.size).toBe(1);
  });

  it('begins a session anew that was ended', () => {
    const sequences = new SessionSequences();
    sequences.take('a', 0);
    expect(sequences.end('a')).toBe(true);
    expect(sequences.end('a')).toBe(false);
    expect(sequences.take('a', 0).kind).toBe('next');
  });
});

describe('SessionNumbers', () => {
  it('gives 0, 1, 2 in each session (M-02)', () => {
    const numbers = new SessionNumbers();
    expect([numbers.next('a'), numbers.next('a'), numbers.next('b'), numbers.next('a')]).toEqual([
      0, 1, 0, 2,
    ]);
  });

  it('forgets no session by itself: there may be one more when one has ended', () => {
    const numbers = new SessionNumbers({ maxSessions: 1 });
    numbers.next('a');
    expect(() => numbers.next('b')).toThrow(/^sessionId is "b", expected at most 1 sessions at a time/);
    expect(numbers.next('a')).toBe(1);
    numbers.end('a');
    expect(numbers.next('b')).toBe(0);
  });
});

describe('sessionSequence', () => {
  const receiver = () => {
    const policy = sessionSequence();
    return (sequence: number) => policy.receive({ peer: 'p', envelope: envelope(sequence) });
  };

  it('lets pass what comes in order, and what has no session', () => {
    const take = receiver();
    expect([take(0), take(1)]).toEqual([undefined, undefined]);
    const { session: _, ...without } = envelope(0);
    expect(sessionSequence().receive({ peer: 'p', envelope: without })).toBeUndefined();
  });

  it('warns of a gap, and has the envelope handled (M-03, C-05)', () => {
    const take = receiver();
    take(0);
    const finding = take(2);
    expect(finding?.action).toBe('warn');
    expect(finding?.reason).toContain('sequence gap detected');
    expect(finding).toMatchObject({ details: { kind: 'gap', from: 1, missing: 1, sessionId: 's1' } });
  });

  it('drops what has come before, and says so (M-04)', () => {
    const take = receiver();
    take(0);
    expect(take(0)).toMatchObject({ action: 'drop', details: { kind: 'duplicate', sequence: 0 } });
  });

  it('warns of what comes late, and drops it when it comes again', () => {
    const take = receiver();
    take(1);
    expect(take(0)).toMatchObject({ action: 'warn', details: { kind: 'late' } });
    expect(take(0)?.action).toBe('drop');
  });

  it('remembers no id that is longer than 256 characters', () => {
    const find = (length: number) =>
      sessionSequence().receive({ peer: 'p', envelope: envelope(0, 'x'.repeat(length)) });
    expect(find(256)).toBeUndefined();
    expect(find(257)).toMatchObject({ action: 'refuse', code: 'INVALID_ENVELOPE' });
  });

  it('counts each sender for itself (M-02)', () => {
    const policy = sessionSequence();
    const take = (sender: string) => policy.receive({ peer: 'p', envelope: { ...envelope(0), sender } });
    expect([take('mars'), take('venus')]).toEqual([undefined, undefined]);
    expect(take('mars')?.action).toBe('drop');
    expect(take('x'.repeat(1_025))).toMatchObject({ action: 'refuse', code: 'INVALID_ENVELOPE' });
  });

  it('drops what is too old to be told from what has come', () => {
    const policy = sessionSequence({ window: 32 });
    policy.receive({ peer: 'p', envelope: envelope(1_000) });
    const finding = policy.receive({ peer: 'p', envelope: envelope(3) });
    expect(finding).toMatchObject({ action: 'drop', details: { kind: 'stale' } });
  });
});
