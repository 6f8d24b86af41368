import { writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { BenchError, usageError } from './bench-error.ts';
import { loadCatalogue } from './catalogue.ts';
import { compareReports } from './compare/compare-reports.ts';
import { comparisonText } from './compare/comparison-text.ts';
import { htmlComparison } from './compare/html-comparison.ts';
import { requireQuiet, watchMachine } from './machine/busyness.ts';
import { measure } from './measure.ts';
import { type BenchOptions, isMeant, optionsOf, USAGE } from './options.ts';
import { htmlReport } from './report/html-report.ts';
import { reportText } from './report/text-report.ts';
import { defectsOf } from './results/defects.ts';
import { readReport } from './results/read-report.ts';

const REFUSED = 1;
const WRONG_OPTIONS = 64;
const BUSY = 75;
const WATCH_MS = 1_500;

type Of<Command extends BenchOptions['command']> = Extract<BenchOptions, { command: Command }>;

/** Does what the command line asks for; the exit code. */
async function run(options: BenchOptions): Promise<number> {
  if (options.command === 'help') console.log(USAGE);
  if (options.command === 'list') await list(options);
  if (options.command === 'report') reportAgain(options);
  if (options.command === 'compare') return compare(options);
  return options.command === 'measure' ? measureAll(options) : 0;
}

const urlsOf = (files: readonly string[]): readonly URL[] => files.map((file) => pathToFileURL(file));

async function list({ plugins }: Of<'list'>): Promise<void> {
  const catalogue = await loadCatalogue(urlsOf(plugins));
  console.log(catalogue.map(({ name, title }) => `${name.padEnd(24)}${title}`).join('\n'));
}

function reportAgain({ from, json, html }: Of<'report'>): void {
  if (json !== undefined) throw usageError('--json does not go with --from: it is there already');
  const report = readReport(from);
  if (html === undefined) console.log(reportText(report));
  else writeFileSync(html, htmlReport(report));
}

function compare({ files, only, isGate, html }: Of<'compare'>): number {
  const [before, after] = files;
  const comparison = compareReports(readReport(before), readReport(after), only);
  console.log(comparisonText(comparison, files));
  if (html !== undefined) writeFileSync(html, htmlComparison(comparison, files));
  return isGate && comparison.worse.length > 0 ? REFUSED : 0;
}

async function measureAll(options: Of<'measure'>): Promise<number> {
  const { plugins, only, json, html, effort, mustBeQuiet, isGate } = options;
  const busyness = await watchMachine(WATCH_MS);
  if (mustBeQuiet) requireQuiet(busyness);
  const catalogue = await loadCatalogue(urlsOf(plugins));
  const selected = catalogue.filter(({ name }) => isMeant(name, only));
  if (selected.length === 0) throw usageError(`--only ${only.join(', ')} names no measurement; see --list`);
  const report = await measure(selected, { effort, busyness, say: console.log });
  if (json !== undefined) writeFileSync(json, `${JSON.stringify(report, null, 2)}\n`);
  if (html !== undefined) writeFileSync(html, htmlReport(report));
  return isGate && defectsOf(report.results).length > 0 ? REFUSED : 0;
}

try {
  process.exitCode = await run(optionsOf(process.argv.slice(2)));
} catch (error) {
  if (!(error instanceof BenchError)) throw error;
  console.error(`${error.code}: ${error.message}`);
  process.exitCode = error.code === 'MACHINE_BUSY' ? BUSY : WRONG_OPTIONS;
}
