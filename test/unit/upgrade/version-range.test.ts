import { describe, expect, it } from 'vitest';
import { versionRange } from '../../../runtime/upgrade/version-range.ts';

const means = (range: string, version: string): boolean => versionRange('from', range)(version);

describe('A range of versions', () => {
  it.each([
    ['1.2.3', ['1.2.3', 'v1.2.3', '1.2.3+build'], ['1.2.4', '1.2.2', '2.2.3']],
    ['1.x', ['1.0.0', '1.99.1'], ['0.9.9', '2.0.0']],
    ['1', ['1.0.0', '1.2.3'], ['2.0.0']],
    ['1.2.x', ['1.2.0', '1.2.9'], ['1.3.0', '1.1.9']],
    ['*', ['0.0.0', '9.9.9', 'blue'], []],
    ['^1.2.3', ['1.2.3', '1.9.0'], ['1.2.2', '2.0.0']],
    ['^0.2.3', ['0.2.3', '0.2.9'], ['0.3.0', '0.2.2']],
    ['^0.0.3', ['0.0.3'], ['0.0.4']],
    ['^1', ['1.0.0', '1.9.9'], ['2.0.0']],
    ['~1.2.3', ['1.2.3', '1.2.9'], ['1.3.0', '1.2.2']],
    ['~1', ['1.0.0', '1.9.0'], ['2.0.0']],
    ['>=1.2', ['1.2.0', '3.0.0'], ['1.1.9']],
    ['>1.2', ['1.3.0'], ['1.2.0', '1.2.9']],
    ['<2', ['1.9.9', '0.0.1'], ['2.0.0']],
    ['<=1.2', ['1.2.9', '0.1.0'], ['1.3.0']],
    ['>=1.2 <3', ['1.2.0', '2.9.9'], ['1.1.0', '3.0.0']],
    ['blue', ['blue'], ['green', '1.0.0']],
    ['1.0.0-rc.1', ['1.0.0-rc.1', '1.0.0'], ['1.0.1']],
  ])('%s', (range, meant, others) => {
    for (const version of meant) expect(means(range, version), `${range} and ${version}`).toBe(true);
    for (const version of others) expect(means(range, version), `${range} and ${version}`).toBe(false);
  });

  it.each([[''], ['  '], [7], [undefined]])('is no %j', (text) => {
    expect(() => versionRange('from', text)).toThrow(expect.objectContaining({ code: 'INVALID_OPTIONS' }));
  });
});
