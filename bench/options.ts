import { parseArgs } from 'node:util';
import { usageError } from './bench-error.ts';
import type { Effort } from './measurement.ts';

export const USAGE = `npm run bench -- [options]                     measure
npm run bench -- --compare A.json B.json       compare two runs and measure nothing
npm run bench -- --from A.json --html FILE     make a page of a former run

What
  --only NAME        what begins with NAME; may be given several times (see --list)
  --plugin FILE      also the races, contenders and probes of this module; several times
  --list             print the names and measure nothing

How much
  --rounds N         rounds of each race (default 15)
  --run-ms N         milliseconds a contender runs in one round, at most 1500 (default 250)
  --warm-up-ms N     milliseconds a contender runs before (default 2500)
  --processes N      fresh processes of each contender that share the rounds (default 1)
  --quick            3 rounds of 100 ms: a look, not a figure

Where to
  --json FILE        write everything measured, every round
  --html FILE        write a page with tables and plots

What may be wrong
  --require-quiet    exit with 75, and measure nothing, if the machine is busy
  --gate             exit with 1 if something is below its floor or failed; with --compare, if something got worse

Exit codes: 0 done, 1 refused by --gate, 64 wrong options or files, 75 the machine is busy.`;

const MAX_RUN_MS = 1_500;

/** Where the results go. */
interface Output {
  readonly json?: string;
  readonly html?: string;
}

/** What the command line asks for. */
export type BenchOptions =
  | { readonly command: 'help' }
  | { readonly command: 'list'; readonly plugins: readonly string[] }
  | ({ readonly command: 'report'; readonly from: string } & Output)
  | {
      readonly command: 'compare';
      readonly files: readonly [before: string, after: string];
      readonly only: readonly string[];
      readonly isGate: boolean;
      readonly html?: string;
    }
  | ({
      readonly command: 'measure';
      readonly only: readonly string[];
      readonly plugins: readonly string[];
      readonly effort: Effort;
      readonly mustBeQuiet: boolean;
      readonly isGate: boolean;
    } & Output);

const parse = (args: readonly string[]) =>
  parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      only: { type: 'string', multiple: true, default: [] },
      plugin: { type: 'string', multiple: true, default: [] },
      rounds: { type: 'string' },
      'run-ms': { type: 'string' },
      'warm-up-ms': { type: 'string' },
      processes: { type: 'string' },
      quick: { type: 'boolean', default: false },
      json: { type: 'string' },
      html: { type: 'string' },
      from: { type: 'string' },
      compare: { type: 'boolean', default: false },
      gate: { type: 'boolean', default: false },
      'require-quiet': { type: 'boolean', default: false },
      list: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
type Values = ReturnType<typeof parse>['values'];

/** Reads the command line; fails with USAGE. */
export function optionsOf(args: readonly string[]): BenchOptions {
  const { values, positionals } = parsed(args);
  if (values.help) return { command: 'help' };
  if (values.compare) return comparing(values, positionals);
  const [stray] = positionals;
  if (stray !== undefined) throw usageError(`"${stray}" belongs to no option`);
  if (values.list) return { command: 'list', plugins: values.plugin };
  const output = { ...given('json', values.json), ...given('html', values.html) };
  if (values.from !== undefined) return { command: 'report', from: values.from, ...output };
  return {
    command: 'measure',
    only: values.only,
    plugins: values.plugin,
    effort: effortOf(values),
    mustBeQuiet: values['require-quiet'],
    isGate: values.gate,
    ...output,
  };
}

function parsed(args: readonly string[]): ReturnType<typeof parse> {
  try {
    return parse(args);
  } catch (error) {
    throw usageError(error instanceof Error ? error.message : String(error));
  }
}

function comparing(values: Values, positionals: readonly string[]): BenchOptions {
  const [before, after, ...more] = positionals;
  if (before === undefined || after === undefined || more.length > 0)
    throw usageError(`--compare takes two files, got ${positionals.length}`);
  return {
    command: 'compare',
    files: [before, after],
    only: values.only,
    isGate: values.gate,
    ...given('html', values.html),
  };
}

function effortOf(values: Values): Effort {
  const { quick } = values;
  return {
    rounds: positive('rounds', values.rounds, quick ? 3 : 15),
    runMs: Math.min(MAX_RUN_MS, positive('run-ms', values['run-ms'], quick ? 100 : 250)),
    warmUpMs: positive('warm-up-ms', values['warm-up-ms'], 2_500),
    processes: positive('processes', values.processes, 1),
  };
}

function positive(option: string, text: string | undefined, fallback: number): number {
  if (text === undefined) return fallback;
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1)
    throw usageError(`--${option} is "${text}", expected a whole number above 0`);
  return value;
}

const given = <Name extends string>(name: Name, value: string | undefined): { [name in Name]?: string } =>
  value === undefined ? {} : ({ [name]: value } as { [name in Name]: string });

/** Whether one of the names that `--only` gives begins this one; all are meant when it gives none. */
export const isMeant = (name: string, only: readonly string[]): boolean =>
  only.length === 0 || only.some((start) => name.startsWith(start));
