import { describe, expect, it } from 'vitest';
import { StreamSample } from '../../../runtime/protocol/stream-sample.ts';

/** Offers `perWindow` events of each of these conversations, window by window; returns how many of each were taken. */
function offered(
  sample: StreamSample,
  keys: readonly string[],
  windows: number,
  perKey = 1,
): Map<string, number> {
  const taken = new Map(keys.map((key) => [key, 0]));
  for (let window = 0; window < windows; window++)
    for (const key of keys)
      for (let at = 0; at < perKey; at++)
        if (sample.takes(key, window * 100)) taken.set(key, (taken.get(key) ?? 0) + 1);
  return taken;
}

const names = (count: number): string[] => Array.from({ length: count }, (_, at) => `c3-${at}`);

describe('StreamSample (F-08)', () => {
  it('takes everything while there is no more than is wanted', () => {
    const sample = new StreamSample(1_000);
    expect([...offered(sample, names(100), 20).values()].every((count) => count === 20)).toBe(true);
    expect(sample.takeLeftOut()).toBe(0);
  });

  it('takes whole conversations and leaves out whole ones while there is more', () => {
    const sample = new StreamSample(1_000);
    offered(sample, names(2_000), 2);
    sample.takeLeftOut();
    const taken = [...offered(sample, names(2_000), 10).values()].map((count) => count > 0);
    const whole = [...offered(sample, names(2_000), 10).values()];
    expect(new Set(whole)).toEqual(new Set([0, 10]));
    expect(taken.filter(Boolean).length).toBeGreaterThan(20);
    expect(taken.filter(Boolean).length).toBeLessThanOrEqual(200);
  });

  it('takes the same ones wherever as much is left out', () => {
    const [one, other] = [new StreamSample(1_000), new StreamSample(1_000)];
    for (const sample of [one, other]) offered(sample, names(2_000), 2);
    expect(offered(one, names(2_000), 3)).toEqual(offered(other, names(2_000), 3));
  });

  it('counts what is left out, to the last one', () => {
    const sample = new StreamSample(500);
    const taken = [...offered(sample, names(700), 30).values()].reduce((sum, count) => sum + count, 0);
    expect(taken + sample.leftOut).toBe(700 * 30);
    expect(sample.takeLeftOut()).toBe(700 * 30 - taken);
    expect(sample.leftOut).toBe(0);
  });

  it('takes rare events whatever their conversation, as far as there is room', () => {
    const sample = new StreamSample(1_000);
    offered(sample, names(5_000), 2);
    const taken = Array.from({ length: 500 }, () => sample.takesRare(200)).filter(Boolean);
    expect(taken).toHaveLength(200);
  });

  it('takes everything again when there is less', () => {
    const sample = new StreamSample(1_000);
    offered(sample, names(5_000), 3);
    sample.takes('c3-1', 1_000);
    expect(names(50).every((key) => sample.takes(key, 1_100))).toBe(true);
  });

  it('takes the first events of a conversation that is all there is, also when it would not be chosen', () => {
    for (const key of names(20)) {
      const sample = new StreamSample(1_000);
      const taken = offered(sample, [key], 10, 1_000).get(key) ?? 0;
      expect(taken).toBeGreaterThan(500);
      expect(taken).toBeLessThanOrEqual(10 * 200);
    }
  });

  it('begins a new window when the clock is set back', () => {
    const sample = new StreamSample(100);
    for (let at = 0; at < 20; at++) sample.takesRare(10_000);
    expect(sample.takesRare(10_000)).toBe(false);
    expect(sample.takesRare(5_000)).toBe(true);
  });
});
