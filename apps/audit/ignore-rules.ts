import { join } from 'node:path';
import ignore, { type Ignore } from 'ignore';
import { readSource } from '@orrery/ralph-loop/findings/read-source';

/**
 * The file that leaves files out of an audit, in git's syntax. What it leaves out is noted in the report, so that a
 * repository cannot hide anything unseen.
 */
export const AUDIT_IGNORE = '.auditignore';

const GIT_IGNORE = '.gitignore';

interface RuleFile {
  /** The folder that the patterns are relative to: '' for the root, else with '/' at its end. */
  readonly base: string;
  readonly name: string;
  readonly rules: Ignore;
}

/** The ignore files that apply in one folder, nearest first. */
export type IgnoreRules = readonly RuleFile[];

/** The rules for `folder` ('', or with '/' at its end): its own ignore files, then those of the folders above. */
export function rulesFor(
  root: string,
  folder: string,
  names: ReadonlySet<string>,
  above: IgnoreRules,
): IgnoreRules {
  const own = [AUDIT_IGNORE, GIT_IGNORE].flatMap((name) => {
    if (!names.has(name)) return [];
    const read = readSource(root, join(folder, name));
    if (!('source' in read)) return [];
    // git is case-sensitive.
    return [{ base: folder, name, rules: ignore({ ignorecase: false }).add(read.source.text) }];
  });
  return own.length === 0 ? above : [...own, ...above];
}

/** The name of the ignore file that leaves `path` out, if any does. The nearest file that mentions it decides. */
export function ignoredBy(rules: IgnoreRules, path: string, isFolder: boolean): string | undefined {
  for (const { base, name, rules: patterns } of rules) {
    const { ignored, unignored } = patterns.test(path.slice(base.length) + (isFolder ? '/' : ''));
    if (ignored) return name;
    if (unignored) return undefined;
  }
  return undefined;
}
