import { writeFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { catalogue } from './catalogue.ts';
import type { Effort, Measurement } from './measurement.ts';
import { formatProbe, formatRace, formatReport } from './report.ts';
import { type BenchReport, defectsOf, type Result } from './results.ts';
import { runMeasurement } from './run-measurement.ts';

const USAGE = `npm run bench -- [options]
  --only NAME   measure what begins with NAME; may be given several times (see --list)
  --rounds N    rounds of each race (default 15)
  --run-ms N    milliseconds a contender runs in one round, at most 1500 (default 250)
  --quick       3 rounds of 100 ms
  --json FILE   write everything measured as JSON
  --gate        exit with 1 when something is below its floor or failed
  --list        print the names and measure nothing`;

const MAX_RUN_MS = 1_500;
const END_MS = 3_000;

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true, default: [] },
    rounds: { type: 'string' },
    'run-ms': { type: 'string' },
    quick: { type: 'boolean', default: false },
    json: { type: 'string' },
    gate: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
    child: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

const selected = catalogue.filter(({ name }) => {
  return values.only.length === 0 || values.only.some((start) => name.startsWith(start));
});

if (values.help) console.log(USAGE);
else if (values.list)
  console.log(catalogue.map(({ name, title }) => `${name.padEnd(16)}${title}`).join('\n'));
else if (selected.length === 0) refuse(`--only ${values.only.join(', ')} names no measurement; see --list`);
else await measureAll(selected);

async function measureAll(measurements: readonly Measurement[]): Promise<void> {
  const effort: Effort = {
    rounds: positive('rounds', values.rounds, values.quick ? 3 : 15),
    runMs: Math.min(MAX_RUN_MS, positive('run-ms', values['run-ms'], values.quick ? 100 : 250)),
  };
  const about = {
    startedAt: new Date().toISOString(),
    node: process.version,
    cpus: availableParallelism(),
    cpuModel: cpus()[0]?.model ?? 'unknown',
    loadAtStart: loadavg()[0] ?? 0,
    effort,
  };
  if (!values.child) console.log(formatReport({ ...about, results: [] }));
  const results: Result[] = [];
  for (const measurement of measurements) {
    const result = await runMeasurement(measurement, effort, values.child);
    if (!values.child) console.log(`\n${result.kind === 'race' ? formatRace(result) : formatProbe(result)}`);
    results.push(result);
  }
  conclude({ ...about, results });
  endAnyway();
}

/** A contender that could not be closed must not keep this process: says so, and ends it. */
function endAnyway(): void {
  const timer = setTimeout(() => {
    console.error(`Still alive after ${END_MS} ms: a contender left something behind`);
    process.exit(process.exitCode ?? 0);
  }, END_MS);
  timer.unref();
}

function conclude(report: BenchReport): void {
  const json = JSON.stringify(report, null, values.child ? undefined : 2);
  if (values.child) console.log(json);
  if (values.json !== undefined) writeFileSync(values.json, `${json}\n`);
  const defects = defectsOf(report.results);
  if (!values.child && defects.length > 0)
    console.log(`\nDefects:\n${defects.map((line) => `  ${line}`).join('\n')}`);
  if (values.gate && defects.length > 0) process.exitCode = 1;
}

function positive(option: string, text: string | undefined, fallback: number): number {
  if (text === undefined) return fallback;
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1)
    refuse(`--${option} is "${text}", expected a whole number above 0`);
  return value;
}

function refuse(message: string): never {
  console.error(message);
  process.exit(64);
}
