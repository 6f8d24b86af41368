import { number, type TestSummary } from './test-summary.ts';

/** Which words of a summary stand for which count. */
export type CountWords = Readonly<Record<string, keyof TestSummary>>;

/** Adds up pairs such as `3 passed`. Words that are not among `words` count as nothing. */
export function countedWords(text: string, words: CountWords): TestSummary {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  for (const [, digits, word = ''] of text.matchAll(/\b(\d{1,9}) ([A-Za-z]{1,30})/g)) {
    const count = Object.hasOwn(words, word) ? words[word] : undefined;
    if (count !== undefined) counts[count] += number(digits);
  }
  return counts;
}
