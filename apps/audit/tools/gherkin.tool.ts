import type { Feature, GherkinDocument, Scenario } from '@cucumber/messages';
import type { SourceText } from '@orrery/ralph-loop/findings/source-text';
import type { Hit, Tool } from '../tool.ts';
import { isSample } from './aside.ts';
import { type Breach, hitOf, ruleTable, scanFiles } from './scan-files.ts';

type Cucumber = typeof import('@cucumber/gherkin');

const RULES = ruleTable('gherkin', {
  medium: {
    'outline-without-examples': 'The outline has no examples; it never runs',
    'syntax-error': 'The feature cannot be parsed',
    'unknown-placeholder': 'A placeholder of the outline has no column in its examples',
  },
  low: {
    'duplicate-scenario': 'Two scenarios of a feature have the same name',
    'empty-scenario': 'The scenario has no steps; it passes whatever happens',
  },
});

/** Finds features that do not run as written, by Cucumber's own parser. */
export const gherkin: Tool = {
  name: 'gherkin',
  module: import.meta.url,
  packages: ['@cucumber/gherkin'],
  licence: 'MIT',
  home: 'https://github.com/cucumber/gherkin',
  replaces: 'the rules specs.* on features',
  rules: RULES,
  nothing: 'no features',
  takes: (file) => /\.feature$/i.test(file) && !isSample(file),
  run: async (job, progress) => {
    const cucumber = await import('@cucumber/gherkin');
    return scanFiles(job, progress, (source) => {
      const parsed = parse(cucumber, source);
      if (Array.isArray(parsed)) return parsed;
      const { feature } = parsed;
      return feature === undefined
        ? []
        : groupsOf(feature).flatMap((scenarios) => checkGroup(scenarios, feature, { cucumber, source }));
    });
  },
};

/** Parses a feature; returns a hit for each error if that fails. */
function parse(
  { AstBuilder, GherkinClassicTokenMatcher, Parser }: Cucumber,
  source: SourceText,
): GherkinDocument | Hit[] {
  const parser = new Parser(new AstBuilder(() => ''), new GherkinClassicTokenMatcher());
  try {
    return parser.parse(source.text);
  } catch (error) {
    return errorsIn(error).flatMap(({ message, location: { line, column } }) => {
      const reason = message.replace(/^\(\d+:\d+\): /, '');
      return hitOf(RULES, 'gherkin/syntax-error', source, {
        line,
        column,
        message: `The feature cannot be parsed: ${reason}.`,
      });
    });
  }
}

interface PlacedError {
  readonly message: string;
  readonly location: { readonly line: number; readonly column?: number };
}

function errorsIn(error: unknown): readonly PlacedError[] {
  const { errors } = error as { errors?: readonly PlacedError[] };
  if (errors !== undefined) return errors;
  if ((error as Partial<PlacedError>).location !== undefined) return [error as PlacedError];
  throw error;
}

/** Groups scenarios whose names should differ: those of the feature, and those of each rule. */
function groupsOf({ children }: Feature): Scenario[][] {
  const own = children.flatMap(({ scenario }) => scenario ?? []);
  const ofRules = children.flatMap((child) =>
    child.rule === undefined ? [] : [child.rule.children.flatMap(({ scenario }) => scenario ?? [])],
  );
  return [own, ...ofRules];
}

interface Parsed {
  readonly cucumber: Cucumber;
  readonly source: SourceText;
}

function checkGroup(scenarios: readonly Scenario[], feature: Feature, { cucumber, source }: Parsed): Hit[] {
  const names = new Map<string, Scenario>();
  return scenarios.flatMap((scenario) => {
    const hits = checkScenario(scenario, feature, cucumber).flatMap(([id, breach]) =>
      hitOf(RULES, id, source, breach),
    );
    const earlier = scenario.name === '' ? undefined : names.get(scenario.name);
    if (earlier === undefined) names.set(scenario.name, scenario);
    else {
      const message = `The scenario at line ${earlier.location.line} has the same name; reports cannot tell them apart.`;
      hits.push(...hitOf(RULES, 'gherkin/duplicate-scenario', source, { ...scenario.location, message }));
    }
    return hits;
  });
}

function checkScenario(
  scenario: Scenario,
  { language }: Feature,
  { dialects }: Cucumber,
): [string, Breach][] {
  const { steps, examples, keyword, location } = scenario;
  if (steps.length === 0) return [['gherkin/empty-scenario', location]];
  const isOutline = dialects[language]?.scenarioOutline.includes(keyword) === true;
  const hasRows = examples.some(({ tableBody }) => tableBody.length > 0);
  if ((isOutline || examples.length > 0) && !hasRows) return [['gherkin/outline-without-examples', location]];
  return unknownPlaceholders(scenario).map((name) => {
    const { line } = steps.find(({ text }) => text.includes(`<${name}>`))?.location ?? location;
    const message = `The examples have no column ${name}; the step runs with <${name}> as it stands.`;
    return ['gherkin/unknown-placeholder', { line, message }];
  });
}

const PLACEHOLDER = /<([^<>\s/](?:[^<>]*[^<>\s])?)>/g;

/** Finds placeholders in steps that no example fills. HTML tags, which are closed, are left out. */
function unknownPlaceholders({ steps, examples }: Scenario): string[] {
  if (examples.length === 0) return [];
  const columns = new Set(
    examples.flatMap(({ tableHeader }) => tableHeader?.cells.map(({ value }) => value) ?? []),
  );
  const text = steps.map((step) => step.text).join('\n');
  const names = [...text.matchAll(PLACEHOLDER)].map(([, name = '']) => name);
  return [...new Set(names)].filter(
    (name) => !columns.has(name) && isPlain(name) && !text.includes(`</${name}>`),
  );
}

const isPlain = (name: string): boolean =>
  /^[\p{L}_][\p{L}\p{N}_ -]*$/u.test(name) && !/^(?:br|hr|img|input)$/i.test(name);
