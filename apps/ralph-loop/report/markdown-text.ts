import { printable } from './printable.ts';

/** A character that nobody sees. With it inside, a mention or a reference is no longer one. */
const BREAK = '\u200b';

/**
 * What code hosts make something of, also where the text ends up in the message of a commit: mentions, numbers of issues and
 * merge requests, keys of trackers, and addresses.
 */
const REFERENCE = /[@#!](?=[\p{L}\p{N}])|\b[A-Za-z][A-Za-z0-9]*-(?=\d)|:(?=\/\/)|\bwww(?=\.)/giu;

const MARKUP = /[\\`*_{}[\]<>#!|~&$^+=]/g;

/** Words of somebody else in a line of Markdown: nothing in them is markup, a mention or a reference. */
export function markdownText(text: string): string {
  return unreferenced(inLine(text))
    .replace(MARKUP, (sign) => `\\${sign}`)
    .replace(/^(\d*)([-.)])/, '$1\\$2');
}

/** A command or an id as code in a line. */
export function markdownCode(text: string): string {
  const line = inLine(text);
  const fence = '`'.repeat(longestRun(line) + 1);
  // The blanks are not part of it. Without them a grave accent at an end would belong to the fence.
  return line === '' ? '' : `${fence} ${line} ${fence}`;
}

/** Commands as a block of code. */
export const markdownCommands = (text: string): string[] => block(text, 'sh');

/** Words of somebody else as a block of code: no line of them is markup or an order, and nothing is a mention or a reference. */
export const markdownWords = (text: string): string[] => block(unreferenced(text), 'text');

function block(text: string, language: string): string[] {
  const lines = text.split(/\r\n|[\n\r\u2028\u2029]/).map(printable);
  const fence = '`'.repeat(Math.max(3, longestRun(text) + 1));
  return [`${fence}${language}`, ...lines, fence];
}

const inLine = (text: string): string => printable(text.replaceAll(/\s+/g, ' ').trim());

const unreferenced = (text: string): string => text.replace(REFERENCE, (found) => `${found}${BREAK}`);

const longestRun = (text: string): number =>
  Math.max(0, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
