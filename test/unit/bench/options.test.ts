import { describe, expect, it } from 'vitest';
import { isMeant, optionsOf } from '../../../bench/options.ts';

describe('optionsOf', () => {
  it('measures everything, 15 rounds, where nothing is said', () => {
    expect(optionsOf([])).toEqual({
      command: 'measure',
      only: [],
      plugins: [],
      effort: { rounds: 15, runMs: 250, warmUpMs: 2_500, processes: 1 },
      mustBeQuiet: false,
      isGate: false,
    });
  });

  it('measures little with --quick, and what is said besides wins', () => {
    expect(optionsOf(['--quick', '--rounds', '7', '--run-ms', '9999'])).toMatchObject({
      effort: { rounds: 7, runMs: 1_500 },
    });
    expect(optionsOf(['--quick'])).toMatchObject({ effort: { rounds: 3, runMs: 100 } });
  });

  it('takes two files to compare', () => {
    expect(optionsOf(['--compare', 'a.json', 'b.json', '--gate', '--only', 'tell'])).toEqual({
      command: 'compare',
      files: ['a.json', 'b.json'],
      only: ['tell'],
      isGate: true,
    });
  });

  it('makes a page of a former run', () => {
    expect(optionsOf(['--from', 'a.json', '--html', 'a.html'])).toEqual({
      command: 'report',
      from: 'a.json',
      html: 'a.html',
    });
  });

  it.each([
    [['--rounds', '0'], '--rounds is "0", expected a whole number above 0'],
    [['--warm-up-ms', 'long'], '--warm-up-ms is "long", expected a whole number above 0'],
    [['--compare', 'a.json'], '--compare takes two files, got 1'],
    [['--compare', 'a', 'b', 'c'], '--compare takes two files, got 3'],
    [['a.json'], '"a.json" belongs to no option'],
    [['--speed'], "Unknown option '--speed'"],
  ])('refuses %j', (args, fault) => {
    expect(() => optionsOf(args)).toThrow(
      expect.objectContaining({ code: 'USAGE', message: expect.stringContaining(fault) }),
    );
  });
});

describe('isMeant', () => {
  it('is what one of the names begins, and everything without names', () => {
    expect(isMeant('tell-across', ['ask', 'tell'])).toBe(true);
    expect(isMeant('fan-out-1', ['ask', 'tell'])).toBe(false);
    expect(isMeant('fan-out-1', [])).toBe(true);
  });
});
