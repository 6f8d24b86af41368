import { refused } from '../../../runtime/protocol/errors.ts';
import type { CompiledRule, Finder } from './compile-rule.ts';
import { type Item, type Known, KnownSubject } from './known-subject.ts';
import { type RuleSubject, Severity, type Violation } from './rule.ts';

/** How many violations of one value of a rule are told, and of all of its values. */
const MOST_OF_VALUE = 20;
const MOST_OF_RULE = 100;
/** How much work a check may be: about five seconds of it, at the worst. */
const MOST_STEPS = 500_000_000;

/**
 * What came of checking a rule.
 *
 * - `violations` at most a hundred, and twenty of one value.
 * - `isJudged`   nothing that is not known of the subject could break it as well.
 */
export interface JudgedRule {
  readonly compiled: CompiledRule;
  readonly violations: readonly Violation[];
  readonly isJudged: boolean;
}

/**
 * Judges a subject by rules, each in its place. What is not known breaks none: a rule that something is to be there is broken where
 * all is known of what it looks at, and it is not among that; a rule that something is not to be there is broken by each that is.
 * Throws REFUSED when that would be too much work.
 */
export function judgeRules(rules: readonly CompiledRule[], subject: RuleSubject): readonly JudgedRule[] {
  const known = new KnownSubject(subject);
  requireLittle(rules, known);
  return rules.map((compiled) => {
    const { rule, looking, wants, finders } = compiled;
    const of = known.of(rule.target, looking);
    const checks = finders.map((finder) => (wants ? lacking : present)(compiled, finder, of));
    return {
      compiled,
      violations: checks.flatMap(({ violations }) => violations).slice(0, MOST_OF_RULE),
      isJudged: checks.every(({ isJudged }) => isJudged),
    };
  });
}

/** The violations, of at least `minSeverity`. @default 'info' */
export function checkRules(
  rules: readonly CompiledRule[],
  subject: RuleSubject,
  { minSeverity = 'info' }: { readonly minSeverity?: Severity | undefined } = {},
): readonly Violation[] {
  return judgeRules(rules, subject)
    .flatMap(({ violations }) => violations)
    .filter(({ severity }) => isAtLeast(severity, minSeverity));
}

export const isAtLeast = (severity: Severity, least: Severity): boolean =>
  Severity.options.indexOf(severity) >= Severity.options.indexOf(least);

type Check = Omit<JudgedRule, 'compiled'>;

function lacking(compiled: CompiledRule, finder: Finder, { items, isWhole }: Known): Check {
  if (items.some((item) => finder.find(item) !== undefined)) return { violations: [], isJudged: true };
  return { violations: isWhole ? [violationOf(compiled, finder)] : [], isJudged: isWhole };
}

function present(compiled: CompiledRule, finder: Finder, { items, isWhole }: Known): Check {
  const violations = new Map<unknown, Violation>();
  for (const item of items) {
    if (violations.size === MOST_OF_VALUE) break;
    const at = finder.find(item);
    if (at === undefined) continue;
    const violation = violationOf(compiled, finder, placed(item, at));
    const { file, line } = violation.location ?? {};
    // One line may import something by several names.
    const place = line === undefined ? violation : `${line} ${file}`;
    if (!violations.has(place)) violations.set(place, violation);
  }
  return { violations: [...violations.values()], isJudged: isWhole };
}

function placed(item: Item, at: number): Item {
  const { location, name, texts } = item;
  if (location === undefined || name !== undefined) return item;
  return { ...item, location: { ...location, line: lineAt(texts[0] ?? '', at) } };
}

function lineAt(text: string, index: number): number {
  let line = 1;
  for (let at = text.indexOf('\n'); at >= 0 && at < index; at = text.indexOf('\n', at + 1)) line++;
  return line;
}

function violationOf({ rule, wants, looking }: CompiledRule, { value }: Finder, item?: Item): Violation {
  const { id, severity, message, operator, target } = rule;
  return {
    ruleId: id,
    severity,
    message: message ?? sentence({ wants, looking, target, value }, item?.name),
    constraint: { operator, target, value },
    ...(item?.name === undefined ? {} : { found: item.name.slice(0, MAX_FOUND) }),
    ...(item?.location === undefined ? {} : { location: item.location }),
  };
}

const MAX_FOUND = 200;

interface Said extends Pick<CompiledRule, 'wants' | 'looking'> {
  readonly target: CompiledRule['rule']['target'];
  readonly value: string;
}

function sentence({ wants, looking, target, value }: Said, found: string | undefined): string {
  const what = looking === 'Match' ? `${THINGS[target]} that matches` : THINGS[target];
  const quoted = JSON.stringify(value);
  if (wants) return `There is no ${what} ${quoted}, and there must be`;
  const told = found === undefined || found === value ? '' : `: ${found.slice(0, MAX_FOUND)}`;
  return `There is a ${what} ${quoted}, and there must not be${told}`;
}

const THINGS: Readonly<Record<Said['target'], string>> = {
  file: 'file',
  code: 'text',
  dependency: 'dependency',
  import: 'import',
  config: 'setting',
};

function requireLittle(rules: readonly CompiledRule[], known: KnownSubject): void {
  let steps = 0;
  for (const { rule, looking, finders } of rules) {
    const { chars } = known.of(rule.target, looking);
    steps += chars * sum(finders.map(({ stepsPerChar }) => stepsPerChar));
  }
  if (steps > MOST_STEPS)
    throw refused(
      `This is too much for one check: about ${steps} steps, at most ${MOST_STEPS}. Check fewer files at a time, or fewer rules`,
      { steps, most: MOST_STEPS },
    );
}

const sum = (numbers: readonly number[]): number => numbers.reduce((all, each) => all + each, 0);
