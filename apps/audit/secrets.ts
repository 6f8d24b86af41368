import type { TextRange } from '@orrery/ralph-loop/findings/evidence';
import { lintSource } from '@secretlint/core';
import { secretLintProfiler } from '@secretlint/profiler';
import { creator as recommended } from '@secretlint/secretlint-rule-preset-recommend';
import { findPrivateKeys } from './private-keys.ts';
import type { SourceText } from '@orrery/ralph-loop/findings/source-text';

// Off, because it would keep several entries per rule and file: half a gigabyte after 50,000 files.
secretLintProfiler.setEnabled(false);

/** A secret in a text, by offsets. `isSilenced`: the file disables it by `secretlint-disable`. */
export interface SecretMatch {
  readonly rule: string;
  readonly start: number;
  readonly end: number;
  readonly isSilenced: boolean;
}

const PRESET = { id: '@secretlint/secretlint-rule-preset-recommend', rule: recommended };
const COMMENTS = { id: '@secretlint/secretlint-rule-filter-comments', disabled: true };
const RULE_PREFIX = '@secretlint/secretlint-rule-';

/** Finds secrets by secretlint's recommended rules, and private keys of any kind. Placeholders are left out. */
export async function findSecrets(source: SourceText): Promise<SecretMatch[]> {
  const all = await lint(source, [COMMENTS]);
  if (all.length === 0) return [];
  const isMarked = source.text.includes('secretlint-disable');
  const loud = isMarked ? new Set((await lint(source, [])).map(keyOf)) : undefined;
  return all.map((match) => ({ ...match, isSilenced: loud !== undefined && !loud.has(keyOf(match)) }));
}

type Match = Omit<SecretMatch, 'isSilenced'>;

const keyOf = ({ rule, start }: Match): string => `${rule}:${start}`;

async function lint(
  { file, text }: SourceText,
  rules: { id: string; disabled: boolean }[],
): Promise<Match[]> {
  const { messages } = await lintSource({
    source: { filePath: file, content: text, contentType: 'text' },
    options: { noPhysicFilePath: true, config: { rules: [{ ...PRESET, rules }] } },
  });
  const found = messages.map(({ ruleId, range: [start, end] }) => ({
    rule: `secret.${ruleId.replace(RULE_PREFIX, '')}`,
    start,
    end: Math.max(end, endOfKey(text, start, ruleId)),
  }));
  const keys = findPrivateKeys(text).filter((key) => !found.some((other) => overlaps(key, other)));
  const matches = [...found, ...keys.map((range) => ({ rule: 'secret.privatekey', ...range }))];
  return distinct(matches.filter(({ start, end }) => !isPlaceholder(text.slice(start, end))));
}

/** The real end of an AWS key. secretlint's range begins at the name, but has the length of the key only. */
function endOfKey(text: string, start: number, ruleId: string): number {
  const key = ruleId.endsWith('-aws')
    ? /[A-Za-z0-9/+=]{40,}/.exec(text.slice(start, start + LOOKED_AT))
    : null;
  return key === null ? start : start + key.index + key[0].length;
}

const LOOKED_AT = 500;

const overlaps = (a: TextRange, b: TextRange): boolean => a.start < b.end && b.start < a.end;

/** Words and repetitions that documentation has, but no real key. */
const PLACEHOLDER =
  /example|placeholder|\bx{3,}\b|your[-_]|change[-_]?me|dummy|redacted|<[^>]*>|\$\{|\.{3}|\*{3}|([A-Za-z0-9])\1{5}/i;
/** A private key, which is judged by size instead: base64 has repetitions such as AAAAAA. */
const PEM = /-----BEGIN/;

const isPlaceholder = (secret: string): boolean => !PEM.test(secret) && PLACEHOLDER.test(secret);

/** Removes repetitions: some rules match one key in two ways. */
function distinct(matches: Match[]): Match[] {
  const seen = new Set<string>();
  return matches.filter((match) => !seen.has(keyOf(match)) && seen.add(keyOf(match)));
}
