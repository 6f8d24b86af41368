import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { isOrreryError } from 'orrery';
import { z } from 'zod';
import { offeredBy } from '../loop/team.ts';
import { lostAnswer } from '../loop/lost-answer.ts';
import type { BrokenRule, SkillsReport } from '../report/skills-report.ts';
import { loadSkills } from './load-skills.ts';
import type { MissionSkillsDeps } from './mission-skills.ts';

/** The rules of a repository, and the source of knowledge that they are. */
const OWN_RULES = '.orrery/knowledge';
const SOURCE = 'project';

/** How long reading and checking may take, milliseconds. */
const CHECK_MS = 600_000;
/** How many broken rules the report lists of each kind. */
const MOST_LISTED = 100;

type Checked = Pick<SkillsReport, 'knowledge' | 'drift' | 'failures'>;

/** Checks the repository as it is against its own rules, all other knowledge that holds for it, and the policies. It never rejects. */
export async function checkRules(deps: MissionSkillsDeps): Promise<Checked> {
  const failures: string[] = [];
  const attempt = async <Result>(what: string, run: () => Promise<Result>): Promise<Result | undefined> => {
    try {
      return await run();
    } catch (error) {
      failures.push(`${what}: ${lostAnswer(error).reason}`);
      return undefined;
    }
  };
  let whole: Promise<Read> | undefined;
  const checked: CheckedDeps = { ...deps, whole: () => (whole ??= readUpTo(deps)) };
  const knowledge = await attempt('The rules were not checked', () => knowledgeOf(checked, attempt));
  const drift = await attempt('The drift was not checked', () => driftOf(checked));
  return { ...(knowledge && { knowledge }), ...(drift && { drift }), failures };
}

/** - `whole` reads the project, once for all checks. */
interface CheckedDeps extends MissionSkillsDeps {
  readonly whole: () => Promise<Read>;
}

type Attempt = <Result>(what: string, run: () => Promise<Result>) => Promise<Result | undefined>;

async function knowledgeOf(deps: CheckedDeps, attempt: Attempt): Promise<Checked['knowledge']> {
  const { team, root, project } = deps;
  const { knowledgeCheck, knowledgeQuery, knowledgeSync } = await loadSkills();
  if (!offeredBy(await team.roster()).has(knowledgeCheck.id)) return undefined;
  const synced = existsSync(join(root, OWN_RULES))
    ? await attempt('The rules of the repository were not read', () =>
        team.loop.ask(knowledgeSync, { source: SOURCE }, optionsOf(deps)),
      )
    : undefined;
  const faults = synced?.faults ?? [];
  const { totalCount } = await team.loop.ask(knowledgeQuery, { limit: 1 }, optionsOf(deps));
  if (totalCount === 0 && faults.length === 0) return undefined;
  const [read, checked] = await checkedAsFarAs(deps, (context) =>
    team.loop.ask(knowledgeCheck, { ...context, minSeverity: 'info', scopes: [project] }, optionsOf(deps)),
  );
  const { passed, isValid, summary, violations, omitted, checkedItems } = checked;
  const listed = violations.slice(0, MOST_LISTED);
  return {
    checkedItems,
    passed,
    isValid,
    summary,
    violations: listed.map(({ itemId, severity, message, location }) =>
      brokenRule({ rule: itemId, severity, message, location }),
    ),
    omitted: omitted + violations.length - listed.length,
    faults,
    unread: read.files.filter(({ content }) => content === undefined).length,
  };
}

async function driftOf(deps: CheckedDeps): Promise<Checked['drift']> {
  const { team, project } = deps;
  const { governanceDriftCheck, governancePolicyList } = await loadSkills();
  if (!offeredBy(await team.roster()).has(governanceDriftCheck.id)) return undefined;
  const { policies } = await team.loop.ask(governancePolicyList, { limit: 1 }, optionsOf(deps));
  if (policies.length === 0) return undefined;
  const [, result] = await checkedAsFarAs(deps, (context) =>
    team.loop.ask(governanceDriftCheck, { project, context }, optionsOf(deps)),
  );
  const { driftScore, threshold, passes, summary, violations, suppressedCount, notJudged } = result;
  return {
    score: driftScore,
    threshold,
    passes,
    summary: { info: summary.info ?? 0, warn: summary.warn ?? 0, block: summary.block ?? 0 },
    violations: violations
      .slice(0, MOST_LISTED)
      .map(({ policyId, ruleId, severity, message, location }) =>
        brokenRule({ rule: `${policyId}/${ruleId}`, severity, message, location }),
      ),
    suppressed: suppressedCount,
    notJudged: notJudged.length,
  };
}

/** What a check says that is too much for one: how much it would do, and may do. */
const TooMuch = z.object({ steps: z.number().positive(), most: z.number().positive() });

/** Below the share that is right, for what is done for a text varies a little with it. */
const SHARE = 0.9;

/** Checks the project; with fewer of its texts, the smallest of them, where all would be too much for its rules. */
async function checkedAsFarAs<Result>(
  deps: CheckedDeps,
  check: (context: ReturnType<typeof given>) => Promise<Result>,
): Promise<readonly [Read, Result]> {
  const all = await deps.whole();
  try {
    return [all, await check(given(all))];
  } catch (error) {
    const { data: tooMuch } = TooMuch.safeParse(isOrreryError(error) ? error.details : undefined);
    if (tooMuch === undefined) throw error;
    const bytes = all.files.reduce((sum, { content = '' }) => sum + Buffer.byteLength(content), 0);
    const maxBytes = Math.floor((SHARE * bytes * tooMuch.most) / tooMuch.steps);
    const some = await readUpTo(deps, { maxBytes });
    return [some, await check(given(some))];
  }
}

type Read = Awaited<ReturnType<typeof import('orrery/skills').readProject>>;

async function readUpTo(deps: MissionSkillsDeps, limits: { readonly maxBytes?: number } = {}): Promise<Read> {
  const { readProject } = await loadSkills();
  return readProject(deps.root, { ...signalOf(deps), ...limits });
}

const given = ({ files, dependencies }: Read) => ({
  files: files.map((file) => ({ ...file })),
  ...(dependencies && { dependencies: dependencies.map((one) => ({ ...one })) }),
});

const signalOf = ({ signal }: MissionSkillsDeps) => (signal === undefined ? {} : { signal });

const optionsOf = (deps: MissionSkillsDeps) =>
  ({
    timeoutMs: CHECK_MS,
    correlationId: deps.mission,
    whenFull: 'park',
    ...signalOf(deps),
  }) as const;

function brokenRule({
  rule,
  severity,
  message,
  location,
}: Pick<BrokenRule, 'rule' | 'severity' | 'message'> & {
  readonly location?: { readonly file: string; readonly line?: number | undefined } | undefined;
}): BrokenRule {
  const { file, line } = location ?? {};
  return {
    rule,
    severity,
    message,
    ...(file === undefined ? {} : { file }),
    ...(line === undefined ? {} : { line }),
  };
}
