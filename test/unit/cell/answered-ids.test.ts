import { describe, expect, it } from 'vitest';
import { AnsweredIds } from '../../../runtime/cell/answered-ids.ts';

describe('AnsweredIds', () => {
  it('knows what it took, and how it was answered', () => {
    const ids = new AnsweredIds();
    expect(ids.recall('mars', 'a~1')).toBeUndefined();
    expect(ids.recall('mars', 'a~1')).toEqual({ kind: undefined, payload: undefined });
    ids.remember('mars', 'a~1', { kind: 0, payload: 42 });
    expect(ids.recall('mars', 'a~1')).toEqual({ kind: 0, payload: 42 });
  });

  it('remembers no answer to what it does not know', () => {
    const ids = new AnsweredIds();
    ids.remember('mars', 'a~1', { kind: 0, payload: 42 });
    expect(ids.recall('mars', 'a~1')).toBeUndefined();
  });

  it('still knows what one sender sent after any number of envelopes of another', () => {
    const ids = new AnsweredIds();
    ids.recall('mars', 'a~1');
    for (let n = 0; n < 100_000; n++) ids.recall('jupiter', `${n}~1`);
    expect(ids.recall('mars', 'a~1')).toBeDefined();
    expect(ids.recall('jupiter', '99999~1')).toBeDefined();
  });

  it('forgets the oldest of a sender, and the sender not heard of for longest', () => {
    const ids = new AnsweredIds();
    for (let n = 0; n <= 1_024; n++) ids.recall('mars', `${n}`);
    expect(ids.recall('mars', '1')).toBeDefined();
    expect(ids.recall('mars', '0')).toBeUndefined();
    for (let n = 0; n < 63; n++) ids.recall(`agent-${n}`, 'a');
    expect(ids.recall('mars', '1024')).toBeDefined();
    ids.recall('agent-63', 'a');
    expect(ids.recall('mars', '1024')).toBeDefined();
    expect(ids.recall('agent-0', 'a')).toBeUndefined();
  });
});
