import { stripVTControlCharacters } from 'node:util';
import { hideSecrets } from 'orrery';
import { HIDDEN } from './secret-filter.ts';

const MOST_END = 4_000;
const MOST_FIRST = 1_000;
const FIRST_LINES = 12;
/** How much of the end is looked at. What a hidden secret leaves may be shorter than the secret. */
const LOOKED_AT = 64_000;

/** Lines in which the first failure is looked for, and how much of each. */
const MOST_LINES = 200_000;
const MOST_OF_LINE = 400;

/** How test runners and compilers begin to tell a failure. */
const FAILURE =
  /^\s{0,8}(?:not ok \d|✖ (?!failing tests)|✗ |× |FAIL[: ]\s?\S|FAILED \S|--- FAIL: |● .|\d{1,4}\) \S|E {3}\S|\S{1,200}: error\b|\S{1,200}\(\d{1,9},\d{1,9}\): error\b|error(?:\[\w{1,12}\])?: |thread '.{1,200}'(?: \(\d{1,9}\))? panicked|Traceback \(most recent call last\)|\w{0,60}(?:Error|Exception): )/;

/** What an agent is shown of the log of a gate that failed. */
export interface FailureExcerpt {
  readonly first?: string;
  readonly end: string;
}

/**
 * The last lines of a log and, if it is not among them, the beginning of the first failure: without colours, control characters and
 * what looks like a secret, or is one of `secrets`.
 */
export function failureExcerpt(log: string, secrets: readonly string[] = []): FailureExcerpt {
  const shown = (text: string): string => hideValues(hideSecrets(withoutControls(text)), secrets);
  const all = shown(log.slice(-LOOKED_AT)).trimEnd();
  const end = lastLines(all, MOST_END);
  const at = firstFailureAt(log);
  if (at === undefined) return { end };
  const first = shown(log.slice(at, at + LOOKED_AT))
    .split('\n')
    .slice(0, FIRST_LINES)
    .join('\n');
  const cut = first.slice(0, MOST_FIRST).trimEnd();
  return end.includes(cut) ? { end } : { first: cut, end };
}

/** Removes what would steer a terminal: all but line ends and tabs. */
const withoutControls = (text: string): string =>
  stripVTControlCharacters(text)
    .replace(/\r\n/g, '\n')
    .replace(/[^\P{Cc}\n\t]|[\u2028\u2029\u202A-\u202E\u2066-\u2069]/gu, '');

const hideValues = (text: string, secrets: readonly string[]): string =>
  secrets.reduce((left, secret) => left.replaceAll(secret, HIDDEN), text);

/** The last whole lines within so many characters, or the end of the last line. */
function lastLines(text: string, most: number): string {
  if (text.length <= most) return text;
  const end = text.slice(-most);
  const lineEnd = end.indexOf('\n');
  return lineEnd === -1 || lineEnd > most / 2 ? end : end.slice(lineEnd + 1);
}

function firstFailureAt(log: string): number | undefined {
  let at = 0;
  for (let line = 0; line < MOST_LINES && at < log.length; line++) {
    const lineEnd = log.indexOf('\n', at);
    const next = lineEnd === -1 ? log.length : lineEnd + 1;
    const text = log.slice(at, Math.min(next, at + MOST_OF_LINE));
    if (FAILURE.test(text.includes('\x1b') ? stripVTControlCharacters(text) : text)) return at;
    at = next;
  }
  return undefined;
}
