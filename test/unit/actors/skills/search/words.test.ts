import { describe, expect, it } from 'vitest';
import { wordsOf } from '../../../../../actors/skills/search/words.ts';

describe('The words that texts are compared by (A-13)', () => {
  it.each([
    ['are in lower case', 'Deploy STAGING', ['deploi', 'stage']],
    ['have no English endings', 'retries retried retry', ['retri', 'retri', 'retri']],
    ['have no accents', 'Café naïve Žižek', ['cafe', 'naiv', 'zizek']],
    [
      'are names of programs, and the parts of these',
      'parseJson SQLite max_retries',
      ['parsejson', 'pars', 'json', 'sqlite', 'sq', 'lite', 'max', 'retri'],
    ],
    ['keep numbers, apart from letters', 'v2 port 8080', ['v', '2', 'port', '8080']],
    ['are those of other scripts as they are', 'Привет мир 東京', ['привет', 'мир', '東京']],
    ['are none in a text of signs alone', '... — !?', []],
  ])('%s', (_what, text, words) => {
    expect(wordsOf(text)).toEqual(words);
  });

  it('are cut at 64 characters', () => {
    expect(wordsOf('7'.repeat(1_000))).toEqual(['7'.repeat(64)]);
  });
});
