import { registerHooks } from 'node:module';
import type { SourceText } from '@orrery/ralph-loop/findings/source-text';
import type { Hit, Tool } from '../tool.ts';
import { hitOf, ruleTable, scanFiles } from './scan-files.ts';

const RULES = ruleTable('actions', {
  high: {
    'script-injection':
      'Text that strangers write becomes part of a script that runs with the rights of the workflow; pass it in an environment variable',
  },
  medium: {
    'script-injection-of-forks':
      'Text that strangers write becomes part of a script; it has few rights when it comes from a fork. Pass it in an environment variable',
    invalid: 'GitHub refuses the workflow, or passes over a part of it',
  },
});

/** Finds workflows that GitHub refuses or misreads, by GitHub's own language service, and script injections. */
export const actions: Tool = {
  name: 'actions',
  module: import.meta.url,
  packages: ['@actions/languageservice', 'yaml'],
  licence: 'MIT',
  home: 'https://github.com/actions/languageservices',
  replaces: 'the rules release.* on workflows',
  rules: RULES,
  nothing: 'no workflows',
  takes: (file) => WORKFLOW.test(file) || ACTION.test(file),
  run: async (job, progress) => {
    // The package imports JSON without an import attribute, as bundlers allow.
    const hooks = registerHooks({
      load: (url, context, next) =>
        next(url, url.endsWith('.json') ? { ...context, importAttributes: { type: 'json' } } : context),
    });
    const [{ validate }, { TextDocument }, yaml] = await Promise.all([
      import('@actions/languageservice'),
      import('vscode-languageserver-textdocument'),
      import('yaml'),
    ]);
    hooks.deregister();
    return scanFiles(job, progress, async (source) => {
      const document = TextDocument.create(`file:///${source.file}`, 'yaml', 1, source.text);
      const faults = await validate(document);
      return [
        ...firstOfEachLine(faults.flatMap((fault) => invalid(source, fault))),
        ...injections(source, yaml),
      ];
    });
  },
};

const WORKFLOW = /^\.github\/workflows\/[^/]+\.ya?ml$/;
const ACTION = /^(?:\.github\/actions\/(?:[^/]+\/)+)?action\.ya?ml$/;

/** The severity of warnings, which are guesses about contexts at run time. */
const WARNING = 2;

/** Errors that GitHub tolerates: empty maps where nothing is expected, and nothing where a map is. */
const TOLERATED =
  /^Unexpected value ''|NullToken|^A mapping was not expected|^Required property is missing: description/;
/** A single type, which GitHub reads as a list. */
const ONE_TYPE = /^\s*types:\s*[\w-]+\s*$/;

interface Fault {
  readonly severity?: number | undefined;
  readonly message: string | { readonly value: string };
  readonly range: { readonly start: { readonly line: number; readonly character: number } };
}

function invalid(source: SourceText, { severity, message: said, range: { start } }: Fault): Hit[] {
  const message = typeof said === 'string' ? said : said.value;
  if ((severity !== undefined && severity >= WARNING) || TOLERATED.test(message)) return [];
  if (ONE_TYPE.test(source.line(start.line + 1) ?? '')) return [];
  return hitOf(RULES, 'actions/invalid', source, {
    line: start.line + 1,
    column: start.character + 1,
    message: `GitHub refuses this, or passes over it: ${message.replace(/\.?$/, '.')}`,
    help: 'https://docs.github.com/actions/reference/workflows-and-actions/workflow-syntax',
  });
}

/** Keeps the first hit of each line: one mistake often causes several. */
const firstOfEachLine = (hits: readonly Hit[]): Hit[] =>
  [...Map.groupBy(hits, ({ line }) => line).values()].flatMap((alike) => alike.slice(0, 1));

/** Fields that strangers can write, by GitHub's guide to hardening. */
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
/** Expressions that reduce a text to a boolean or a hash. */
const HARMLESS = /^\s*!?\s*(?:contains|startsWith|endsWith|hashFiles)\s*\([^()]*\)\s*$|^[^&|]*[=!]=[^&|]*$/;
/** Triggers that only people with write access can cause. */
const TRUSTED_ONLY = new Set([
  'push',
  'workflow_dispatch',
  'schedule',
  'release',
  'create',
  'repository_dispatch',
]);

/** Triggers that have read access and no secrets if they come from a fork. */
const READ_ONLY = new Set(['pull_request', 'pull_request_review', 'pull_request_review_comment']);
/** Conditions that only branches of the repository itself pass. */
const OWN_BRANCH =
  /head\.repo\.full_name\s*==\s*github\.repository\b|!\s*github\.event\.pull_request\.head\.repo\.fork\b|head\.repo\.fork\s*==\s*false/;

type Yaml = typeof import('yaml');

function injections(source: SourceText, { isMap, isScalar, parseDocument, visit }: Yaml): Hit[] {
  if (!STRANGERS.test(source.text)) return [];
  const document = parseDocument(source.text);
  const triggers: unknown = document.toJS()?.on;
  const names =
    typeof triggers === 'string'
      ? [triggers]
      : Array.isArray(triggers)
        ? triggers
        : Object.keys(triggers ?? {});
  if (names.length > 0 && names.every((name) => TRUSTED_ONLY.has(name))) return [];
  const hasRights =
    names.length === 0 || names.some((name) => !TRUSTED_ONLY.has(name) && !READ_ONLY.has(name));
  const id = hasRights ? 'actions/script-injection' : 'actions/script-injection-of-forks';
  const hits: Hit[] = [];
  visit(document, {
    Map: (_key, step, above) => {
      const conditions = [...above, step].map((node) => (isMap(node) ? String(node.get('if') ?? '') : ''));
      if (conditions.some((condition) => OWN_BRANCH.test(condition))) return;
      const isScript = /^actions\/github-script@/.test(String(step.get('uses') ?? ''));
      const options = step.get('with', true);
      const scripts = [
        step.get('run', true),
        isScript && isMap(options) ? options.get('script', true) : undefined,
      ];
      for (const script of scripts) {
        if (!isScalar(script) || !script.range) continue;
        const [start, end] = script.range;
        for (const { 1: inside = '', index } of source.text.slice(start, end).matchAll(EXPRESSION)) {
          if (!STRANGERS.test(inside) || HARMLESS.test(inside)) continue;
          const breach = { ...source.positionAt(start + index), help: HARDENING };
          hits.push(...hitOf(RULES, id, source, breach));
        }
      }
    },
  });
  return hits;
}

const HARDENING = 'https://docs.github.com/actions/concepts/security/script-injections';
