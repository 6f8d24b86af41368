import { checkDependencies } from './dependencies/dependencies-check.ts';
import { DEPENDENCY_RULES } from './dependencies/rules.ts';
import { auditDocs } from './docs/audit-docs.ts';
import { REPOSITORY_DOCS_RULES } from './docs/rules.ts';
import type { AuditReport } from '../findings/finding.ts';
import { briefHistory } from './history/history-brief.ts';
import { HISTORY_RULES } from './history/rules.ts';
import { collectIdeas } from './ideas/collect-ideas.ts';
import { REPOSITORY_IDEAS_RULES } from './ideas/rules.ts';
import { checkMetrics } from './metrics/metrics-check.ts';
import { REPOSITORY_METRIC_RULES } from './metrics/rules.ts';
import type { ProgressCounter } from './progress-counter.ts';
import type { Rules } from './rule.ts';

/** A job whose findings of these rules follow from several files: MERCURY does it once more to find them again. */
export interface RepositoryJob {
  readonly rules: Rules;
  readonly check: (root: string, progress: ProgressCounter) => Promise<AuditReport>;
}

const REPOSITORY_JOBS: readonly RepositoryJob[] = [
  { rules: DEPENDENCY_RULES, check: checkDependencies },
  { rules: REPOSITORY_METRIC_RULES, check: checkMetrics },
  { rules: HISTORY_RULES, check: briefHistory },
  { rules: REPOSITORY_DOCS_RULES, check: auditDocs },
  { rules: REPOSITORY_IDEAS_RULES, check: collectIdeas },
];

/** The job that finds `rule`, if it is one that looks at the repository as a whole. */
export const repositoryJobFor = (rule: string): RepositoryJob | undefined =>
  REPOSITORY_JOBS.find(({ rules }) => Object.hasOwn(rules, rule));
