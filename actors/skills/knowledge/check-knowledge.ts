import { refused } from '../../../runtime/protocol/errors.ts';
import { checkRules } from '../rules/check-rules.ts';
import type { RuleSubject, Severity, Violation } from '../rules/rule.ts';
import { rulesOf } from './constraint.ts';
import { noSuchItem } from './knowledge-items.ts';
import { knowledgeRankOf, type KnowledgeLayer } from './knowledge-layer.ts';
import type { KnowledgeView, KnownItem } from './knowledge-view.ts';

/**
 * Which knowledge is checked: accepted items alone.
 *
 * - `ids`         these. @default all
 * - `layer`       those that hold in this layer: of it and of the wider ones. @default of all layers
 * - `scopes`      those of these projects, teams and organisations, and of none in particular. @default of all
 * - `minSeverity` less bad violations are counted, and not listed.
 */
export interface CheckedKnowledge {
  readonly ids?: readonly string[] | undefined;
  readonly layer?: KnowledgeLayer | undefined;
  readonly scopes?: readonly string[] | undefined;
  readonly minSeverity: Severity;
}

/**
 * - `passed`  nothing blocks. - `isValid` nothing is violated at all, however little bad.
 * - `omitted` how many violations more there are than are listed here.
 * - `summary` how many there are of each severity, listed or not.
 */
export interface KnowledgeCheck {
  readonly passed: boolean;
  readonly isValid: boolean;
  readonly violations: readonly FoundViolation[];
  readonly omitted: number;
  readonly summary: Readonly<Record<Severity, number>>;
  readonly checked: readonly KnownItem[];
}

export interface FoundViolation {
  readonly item: KnownItem;
  readonly violation: Violation;
}

const MOST_VIOLATIONS = 1_000;

/** How bad each severity is. */
const SEVERITY_RANK: Readonly<Record<Severity, number>> = { info: 0, warn: 1, block: 2 };

/**
 * Checks a project: the worst violations come first, and of those alike what was changed first. Throws REFUSED naming ids that are of
 * no item, or of none that is accepted.
 */
export function checkKnowledge(
  view: KnowledgeView,
  subject: RuleSubject,
  wanted: CheckedKnowledge,
): KnowledgeCheck {
  const checked = itemsOf(view, wanted);
  const byRule = new Map(checked.flatMap((item) => rulesOf(item).map(({ id }) => [id, item] as const)));
  const found = checkRules(
    checked.flatMap((item) => view.rulesOf(item)),
    subject,
  ).map((violation) => ({ violation, item: byRule.get(violation.ruleId) as KnownItem }));
  const summary = { info: 0, warn: 0, block: 0 };
  for (const { violation } of found) summary[violation.severity] += 1;
  const listed = found
    .filter(({ violation }) => SEVERITY_RANK[violation.severity] >= SEVERITY_RANK[wanted.minSeverity])
    .sort((one, other) => SEVERITY_RANK[other.violation.severity] - SEVERITY_RANK[one.violation.severity]);
  return {
    passed: summary.block === 0,
    isValid: found.length === 0,
    violations: listed.slice(0, MOST_VIOLATIONS),
    omitted: Math.max(0, listed.length - MOST_VIOLATIONS),
    summary,
    checked,
  };
}

function itemsOf(view: KnowledgeView, { ids, layer, scopes }: CheckedKnowledge): KnownItem[] {
  const all = ids === undefined ? [...view.items] : named(view, ids);
  return all
    .filter(
      (item) =>
        view.statusOf(item) === 'accepted' &&
        (layer === undefined || knowledgeRankOf(item.layer) >= knowledgeRankOf(layer)) &&
        (scopes === undefined || item.scope === '' || scopes.includes(item.scope)),
    )
    .sort((one, other) => one.revision - other.revision);
}

function named(view: KnowledgeView, ids: readonly string[]): KnownItem[] {
  const known = [...new Set(ids)].map((id) => [id, view.item(id)] as const);
  const unknown = known.filter(([, item]) => item === undefined).map(([id]) => id);
  if (unknown.length > 0) throw noSuchItem(...unknown);
  const items = known.flatMap(([, item]) => item ?? []);
  const [open] = items.filter((item) => view.statusOf(item) !== 'accepted');
  if (open !== undefined)
    throw refused(
      `The knowledge item "${open.id}" is ${view.statusOf(open)}: only what is accepted is checked`,
      { id: open.id, status: view.statusOf(open) },
    );
  return items;
}
