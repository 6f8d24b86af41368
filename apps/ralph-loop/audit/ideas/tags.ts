import type { Defect } from '../evidence.ts';
import type { CommentLine } from './comment-lines.ts';

const RULES: Readonly<Record<string, readonly [rule: string, words: string]>> = {
  TODO: ['ideas.todo', 'To do'],
  FIXME: ['ideas.fixme', 'To be mended'],
  XXX: ['ideas.fixme', 'To be mended'],
  HACK: ['ideas.hack', 'To be done better'],
};

const TAG = /^@?(TODO|FIXME|XXX|HACK)(?:\s*[([]([^)\]]{1,60})[)\]])?(?=$|[\s:,.!])([\s:,.!-]*)(.*)$/;
/** Words of who writes about such comments. */
const ABOUT = /^(?:comments?|markers?|tags?|lists?|items?|notes?|and|or|are|is|in|s)\b/;

/** Whether it is worth to look for comments at all. */
export const mayHaveTags = (text: string): boolean => /\b(?:TODO|FIXME|XXX|HACK)\b/.test(text);

/** What a line of a comment says that is to be done, if its first word says so. */
export function tagOf({ words, offset }: CommentLine): Defect | undefined {
  const [, tag = '', who, pause = '', what = ''] = TAG.exec(words) ?? [];
  const known = RULES[tag];
  const isAbout = who === undefined && pause.trim() === '' && ABOUT.test(what);
  if (known === undefined || isAbout) return undefined;
  const [rule, says] = known;
  return {
    rule,
    offset,
    message: `${says}${who === undefined ? '' : ` (${who})`}: ${what || 'it does not say what'}`,
  };
}
