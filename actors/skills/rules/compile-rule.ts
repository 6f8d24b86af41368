import type { z } from 'zod';
import { invalidOptions, isOrreryError } from '../../../runtime/protocol/errors.ts';
import { compileGlob, STEPS_OF_COMPARING } from './glob.ts';
import { type Item, type Looking, plainPath, withoutNode } from './known-subject.ts';
import { compilePattern, type Pattern } from './pattern.ts';
import { Rule } from './rule.ts';
import { verbatim, wordInText } from './word-in-text.ts';

/**
 * A rule that is ready to be checked.
 *
 * - `wants`   whether what it looks for is to be there; else it is not to be.
 * - `looking` by what it looks for it.
 * - `finders` one for each of its values.
 */
export interface CompiledRule {
  readonly rule: Rule;
  readonly wants: boolean;
  readonly looking: Looking;
  readonly finders: readonly Finder[];
}

/**
 * - `find`         where in an item it is found, counted in characters; undefined where it is not.
 * - `stepsPerChar` about how much is done for a character of an item, at most.
 */
export interface Finder {
  readonly value: string;
  readonly find: (item: Item) => number | undefined;
  readonly stepsPerChar: number;
}

const OPERATOR = /^Must(Not)?(Use|Match|Exist)$/;

/**
 * Compiles a rule. Throws INVALID_OPTIONS naming the rule, and its value, for a pattern that is none, for `deny` with an operator
 * that is negative already, and for a dependency with a version.
 *
 * What is found by a value, for each target:
 *
 * | target       | Use                                       | Match                                     | Exist            |
 * |--------------|-------------------------------------------|-------------------------------------------|------------------|
 * | `file`       | a path, by a path or glob                 | a path with the pattern in it             | as Use           |
 * | `code`       | a text with the word in it                | a text with the pattern in it (of lines)  | the text as it is |
 * | `dependency` | the name, or a glob of names              | `name` or `name@version` with it          | as Use           |
 * | `import`     | the name or glob, and what is below it    | the name with the pattern in it           | the name exactly |
 * | `config`     | a key whose value is not false or null    | `key.path=value` with the pattern in it   | a key            |
 *
 * `MustUse`, `MustMatch` and `MustExist` hold when at least one thing is found, `MustNotUse`, `MustNotMatch` and `MustNotExist` when
 * none is. `deny` makes the second of the first. Each value of a list counts for itself.
 */
export function compileRule(rule: Rule): CompiledRule {
  const { id, operator, ruleType, target, value } = rule;
  const [, not, looking] = OPERATOR.exec(operator) as unknown as [string, string | undefined, Looking];
  if (ruleType === 'deny' && not !== undefined)
    throw invalidOptions(
      `rule "${id}".ruleType`,
      ruleType,
      `"allow" with the operator ${operator}, which denies already`,
    );
  const field = `rule "${id}".value`;
  const values = typeof value === 'string' ? [value] : value;
  return {
    rule,
    wants: not === undefined && ruleType === 'allow',
    looking,
    finders: values.map((each) => ({ value: each, ...FINDERS[target][looking](field, each) })),
  };
}

/** A rule that can be compiled: what cannot be is refused with the reason when it is read. */
export const SoundRule = Rule.superRefine((rule, ctx) => {
  try {
    compileRule(rule);
  } catch (error) {
    if (!isOrreryError(error)) throw error;
    const { field, expected } = error.details;
    const path = String(field).endsWith('ruleType') ? 'ruleType' : 'value';
    const message = `${expected} in the rule "${rule.id}"`;
    ctx.addIssue({ code: 'custom', path: [path], message, input: rule[path] });
  }
});
export type SoundRule = z.infer<typeof SoundRule>;

type Finds = (field: string, value: string) => Omit<Finder, 'value'>;

const FINDERS: Readonly<Record<Rule['target'], Readonly<Record<Looking, Finds>>>> = {
  file: { Use: path, Match: pattern, Exist: path },
  code: {
    Use: (_, word) => inTexts(wordInText(word)),
    Match: (field, source) => inTexts(compilePattern(field, source, { isOfLines: true })),
    Exist: (_, text) => inTexts(verbatim(text)),
  },
  dependency: { Use: dependency, Match: pattern, Exist: dependency },
  import: {
    Use: (field, name) => inTexts(compileGlob(field, withoutNode(name), { withBelow: true })),
    Match: pattern,
    Exist: (field, name) => inTexts(compileGlob(field, withoutNode(name))),
  },
  config: {
    Use: (_, key) => setting(key, (value) => value !== false && value !== null),
    Match: pattern,
    Exist: (_, key) => setting(key, () => true),
  },
};

function path(field: string, glob: string): Omit<Finder, 'value'> {
  return inTexts(compileGlob(field, plainPath(glob)));
}

function pattern(field: string, source: string): Omit<Finder, 'value'> {
  return inTexts(compilePattern(field, source));
}

function dependency(field: string, name: string): Omit<Finder, 'value'> {
  if (name.lastIndexOf('@') > 0)
    throw invalidOptions(field, name, 'a name without a version: for versions MustMatch has "name@version"');
  return inTexts(compileGlob(field, name));
}

function inTexts({ find, stepsPerChar }: Pattern): Omit<Finder, 'value'> {
  return {
    find({ texts }) {
      for (const text of texts) {
        const at = find(text);
        if (at !== undefined) return at;
      }
      return undefined;
    },
    stepsPerChar,
  };
}

const setting = (key: string, holds: (value: unknown) => boolean): Omit<Finder, 'value'> => ({
  find: ({ texts, value }) => (texts[0] === key && holds(value) ? 0 : undefined),
  stepsPerChar: STEPS_OF_COMPARING,
});
