import { describe, expect, it } from 'vitest';
import { judgeBeat } from '../../../runtime/supervision/watchdog.ts';

const options = { stallMs: 400 };
const lastSign = { atMs: 1_000, beat: 7, cpuMs: 50 };
const later = (ms: number, usedMs: number, beat = 7) => ({ atMs: 1_000 + ms, beat, cpuMs: 50 + usedMs });

describe('the judgement of a beat', () => {
  it('calls a thread alive whose beat has changed', () => {
    expect(judgeBeat(lastSign, later(5_000, 5_000, 8), options)).toBe('alive');
    expect(judgeBeat(lastSign, later(5_000, 5_000, -7), options)).toBe('alive');
  });

  it('is patient for as long as a stall may last', () => {
    expect(judgeBeat(lastSign, later(400, 400), options)).toBe('alive');
  });

  it('calls a thread looping that used the processor half of the time', () => {
    expect(judgeBeat(lastSign, later(401, 401), options)).toBe('looping');
    expect(judgeBeat(lastSign, later(500, 250), options)).toBe('looping');
  });

  it('calls a thread starved that used it less', () => {
    expect(judgeBeat(lastSign, later(500, 249), options)).toBe('starved');
    expect(judgeBeat(lastSign, later(60_000, 20), options)).toBe('starved');
  });

  it('finds a loop on a machine that gives it only a tenth of a processor', () => {
    expect(judgeBeat(lastSign, later(3_900, 390), options)).toBe('starved');
    expect(judgeBeat(lastSign, later(4_000, 400), options)).toBe('looping');
  });

  it('does not judge a thread that has not begun to beat', () => {
    const starting = { atMs: 0, beat: 0, cpuMs: 0 };
    expect(judgeBeat(starting, { atMs: 900, beat: 0, cpuMs: 900 }, options)).toBe('alive');
  });
});
