import { AstBuilder, dialects, GherkinClassicTokenMatcher, Parser } from '@cucumber/gherkin';
import type { Feature, GherkinDocument, Scenario } from '@cucumber/messages';
import type { Defect } from '../evidence.ts';
import type { SourceText } from '../../findings/source-text.ts';

/** What is wrong with one feature file. */
export function checkFeature(source: SourceText): Defect[] {
  const document = parse(source);
  if (!('comments' in document)) return document;
  const { feature } = document;
  return feature === undefined
    ? []
    : groupsOf(feature).flatMap((scenarios) => checkGroup(scenarios, feature, source));
}

/** The feature, or a defect for each of the parser's errors. */
function parse(source: SourceText): GherkinDocument | Defect[] {
  const parser = new Parser(new AstBuilder(() => ''), new GherkinClassicTokenMatcher());
  try {
    return parser.parse(source.text);
  } catch (error) {
    return errorsIn(error).map(({ message, location: { line, column = 1 } }) => ({
      rule: 'specs.gherkin-error',
      offset: offsetOf(source, line, column),
      message: `The feature cannot be parsed: ${message.replace(/^\(\d+:\d+\): /, '')}`,
    }));
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

/** Scenarios whose names should differ: those of the feature, and those of each of its rules. */
function groupsOf({ children }: Feature): Scenario[][] {
  const own = children.flatMap(({ scenario }) => scenario ?? []);
  const ofRules = children.flatMap(({ rule }) =>
    rule === undefined ? [] : [rule.children.flatMap(({ scenario }) => scenario ?? [])],
  );
  return [own, ...ofRules];
}

function checkGroup(scenarios: readonly Scenario[], feature: Feature, source: SourceText): Defect[] {
  const names = new Map<string, Scenario>();
  return scenarios.flatMap((scenario) => {
    const offset = offsetOf(source, scenario.location.line, scenario.location.column ?? 1);
    const defects: Defect[] = checkScenario(scenario, feature).map((fault) => ({ offset, ...fault }));
    const earlier = scenario.name === '' ? undefined : names.get(scenario.name);
    if (earlier === undefined) names.set(scenario.name, scenario);
    else {
      const message = `The scenario at line ${earlier.location.line} has the same name`;
      defects.push({ rule: 'specs.duplicate-scenario', offset, message });
    }
    return defects;
  });
}

function checkScenario(scenario: Scenario, { language }: Feature): Omit<Defect, 'offset'>[] {
  const { steps, examples, keyword } = scenario;
  if (steps.length === 0) return [{ rule: 'specs.empty-scenario' }];
  const isOutline = dialects[language]?.scenarioOutline.includes(keyword) === true;
  const hasRows = examples.some(({ tableBody }) => tableBody.length > 0);
  if ((isOutline || examples.length > 0) && !hasRows) return [{ rule: 'specs.outline-without-examples' }];
  // A step that begins with * may be anything.
  const mayExpect = steps.some(({ keywordType }) => keywordType === 'Outcome' || keywordType === 'Unknown');
  return [
    ...(mayExpect ? [] : [{ rule: 'specs.scenario-without-then' }]),
    ...unknownPlaceholders(scenario).map((name) => ({
      rule: 'specs.unknown-placeholder',
      message: `The examples have no column ${name}`,
    })),
  ];
}

const PLACEHOLDER = /<([^<>\s/](?:[^<>]*[^<>\s])?)>/g;

/** Placeholders in steps that no example fills; tags of HTML in a text are closed. */
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
  /^[\p{L}_][\p{L}\p{N}_ -]*$/u.test(name) && !/^(br|hr|img|input)$/i.test(name);

/** A place by line and column, both from 1; past the end of the text it is the last line with something in it. */
function offsetOf(source: SourceText, line: number, column: number): number {
  for (let at = line; at > 0; at--) {
    const text = source.line(at) ?? '';
    const start = source.startOf(at);
    if (start === undefined || text.trim() === '') continue;
    return start + (at === line ? Math.min(column - 1, text.length) : 0);
  }
  return 0;
}
