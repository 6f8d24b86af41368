import type { Defect } from '../evidence.ts';
import type { FileDefects } from '../file-scan.ts';
import type { SourceText } from '../../findings/source-text.ts';
import { isMovingImage } from './moving-image.ts';
import { parseYaml, type YamlTree } from './yaml-tree.ts';

const WORKFLOW = /^\.github\/workflows\/[^/]+\.ya?ml$/;
const ACTION = /^\.github\/actions\/(?:[^/]+\/)+action\.ya?ml$/;

/** Whether a file is a workflow of GitHub Actions, or an action of the repository's own. */
export const isWorkflow = (file: string): boolean => WORKFLOW.test(file) || ACTION.test(file);

/** What is wrong with a workflow or an action. */
export function checkWorkflow(source: SourceText): FileDefects {
  const parsed = parseYaml(source.text);
  if ('fault' in parsed) return { defects: [], unparsable: parsed.fault };
  const defects = parsed.trees.flatMap((tree) => [
    ...tree
      .at('jobs')
      .entries.flatMap(({ offset, value }) => [
        ...checkTimeout(value, offset),
        ...checkUses(value.at('uses')),
        ...checkSteps(value.at('steps').items, source),
      ]),
    ...checkSteps(tree.at('runs', 'steps').items, source),
    ...checkCheckouts(tree),
  ]);
  return { defects };
}

/** Reusable workflows bring their own; steps may each have one. */
function checkTimeout(job: YamlTree, offset: number): Defect[] {
  const steps = job.at('steps').items;
  if (!job.at('runs-on').isThere || steps.length === 0 || job.at('timeout-minutes').isThere) return [];
  const isBounded = steps.every((step) => step.at('timeout-minutes').isThere);
  return isBounded ? [] : [{ rule: 'release.no-timeout', offset }];
}

function checkSteps(steps: readonly YamlTree[], source: SourceText): Defect[] {
  return steps.flatMap((step) => {
    const isScript = /^actions\/github-script@/.test(step.at('uses').text ?? '');
    const scripts = [step.at('run'), ...(isScript ? [step.at('with', 'script')] : [])];
    return [...checkUses(step.at('uses')), ...scripts.flatMap((script) => injections(script, source))];
  });
}

/** Branches by the names they usually have; tags and hashes stay, or say what they are. */
const BRANCH =
  /^(?:refs\/heads\/.+|main|master|develop|development|dev|trunk|head|next|latest|edge|canary)$/i;

function checkUses(uses: YamlTree): Defect[] {
  const text = uses.text;
  if (text === undefined || text.startsWith('.')) return [];
  const image = /^docker:\/\/(.+)$/.exec(text)?.[1];
  if (image !== undefined) {
    return isMovingImage(image) ? [{ rule: 'release.moving-image', offset: uses.range.start }] : [];
  }
  const version = /@([^@]+)$/.exec(text)?.[1];
  return version !== undefined && BRANCH.test(version)
    ? [{ rule: 'release.moving-action', offset: uses.range.start }]
    : [];
}

/** What strangers write, by the fields that GitHub's own guide to hardening names. */
const STRANGERS = new RegExp(
  [
    'github\\.head_ref',
    'github\\.event\\.(?:issue|pull_request|discussion)\\.(?:title|body)',
    'github\\.event\\.(?:comment|review|review_comment|discussion_comment)\\.body',
    'github\\.event\\.pages\\S*\\.page_name',
    'github\\.event\\.(?:commits\\S*|head_commit)\\.(?:message|author\\.(?:email|name))',
    'github\\.event\\.pull_request\\.head\\.(?:ref|label|repo\\.default_branch)',
    'github\\.event\\.workflow_run\\.(?:head_branch|display_title|head_commit\\.(?:message|author\\.(?:email|name)))',
  ].join('|'),
);
const EXPRESSION = /\$\{\{(.*?)\}\}/gs;
/** What makes a yes or a no of a text. */
const QUESTION = /^\s*!?\s*(?:contains|startsWith|endsWith)\s*\([^()]*\)\s*$|^[^&|]*[=!]=[^&|]*$/;

function injections(script: YamlTree, { text }: SourceText): Defect[] {
  if (script.text === undefined) return [];
  const { start, end } = script.range;
  return [...text.slice(start, end).matchAll(EXPRESSION)]
    .filter(([, inside = '']) => STRANGERS.test(inside) && !QUESTION.test(inside))
    .map(({ index }) => ({ rule: 'release.script-injection', offset: start + index }));
}

const FOREIGN_REF = /github\.event\.pull_request\.(?:head|merge_commit_sha)|github\.head_ref|refs\/pull\//;
/** Somebody with rights has looked at the pull request first. */
const APPROVED = /label|author_association|permission|github\.actor|github\.repository_owner|head\.repo/;

/** `pull_request_target` runs with the secrets of the repository, whoever wrote the pull request. */
function checkCheckouts(workflow: YamlTree): Defect[] {
  if (!triggersOf(workflow.at('on')).includes('pull_request_target')) return [];
  return workflow.at('jobs').entries.flatMap(({ value: job }) => {
    if (APPROVED.test(job.at('if').text ?? '') || job.at('environment').isThere) return [];
    return job.at('steps').items.flatMap((step) => {
      const ref = step.at('with', 'ref');
      const isCheckout = /^actions\/checkout@/.test(step.at('uses').text ?? '');
      const isForeign = isCheckout && FOREIGN_REF.test(ref.text ?? '');
      return isForeign ? [{ rule: 'release.untrusted-checkout', offset: ref.range.start }] : [];
    });
  });
}

const triggersOf = (on: YamlTree): string[] => [
  ...(on.text === undefined ? [] : [on.text]),
  ...on.items.flatMap(({ text }) => (text === undefined ? [] : [text])),
  ...on.entries.map(({ key }) => key),
];
