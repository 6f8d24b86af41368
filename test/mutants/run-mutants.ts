/**
 * Plants each bug of this folder in a copy of the working tree, and fails if a suite that it names stays green.
 *
 * The last line printed is the closing line, `N passed, N failed`: one a mutant, and one if a suite fails without any.
 */
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type Mutant, readMutants } from './mutant.ts';
import { commitPlace, parseRotation, partOf } from './rotation.ts';
import { ScratchCopy } from './scratch-copy.ts';
import { runSuites, type SuiteRun } from './suite-run.ts';
import { judgeAll, judgeRun, type Verdict } from './verdict.ts';

const USAGE = `npm run mutants -- [options] [NAME...]
  NAME          only mutants whose number or name begins with NAME
  --rotate N    one of N parts, another with every commit
  --rotate K/N  part K of N
  --list        print the mutants and run nothing`;

const NUMBER = /^\d+-/;
const ROOT = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');
/** What a suite may take: so many times what it takes without a bug, and so long in any case, which is longer than a test waits. */
const LIMIT_FACTOR = 5;
const LIMIT_MS = 180_000;
const BASELINE_LIMIT_MS = 20 * 60_000;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rotate: { type: 'string' },
    list: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

if (values.help) console.log(USAGE);
else await main().catch((error: Error) => close(0, [error.message]));

async function main(): Promise<void> {
  const mutants = select(readMutants(ROOT));
  if (values.list) return console.log(mutants.map(({ name, breaks }) => `${name}: ${breaks}`).join('\n'));
  if (mutants.length === 0) return close(0, ['no mutant is meant']);
  const interrupt = new AbortController();
  const onSignal = (signal: NodeJS.Signals): void => {
    process.exitCode = signal === 'SIGINT' ? 130 : 143;
    interrupt.abort();
  };
  process.once('SIGINT', onSignal).once('SIGTERM', onSignal);
  const copy = new ScratchCopy(ROOT);
  try {
    await runAll(copy, mutants, interrupt.signal);
  } catch (error) {
    if (!interrupt.signal.aborted) throw error;
    console.error('Interrupted');
  } finally {
    copy.remove();
  }
}

function select(all: readonly Mutant[]): readonly Mutant[] {
  const named = all.filter(
    ({ name }) => positionals.length === 0 || positionals.some((start) => beginsWith(name, start)),
  );
  if (values.rotate === undefined) return named;
  const rotation = parseRotation(values.rotate, () => commitPlace(ROOT));
  console.log(`Part ${rotation.part} of ${rotation.of}`);
  return partOf(named, rotation);
}

function beginsWith(name: string, start: string): boolean {
  return name.startsWith(start) || name.replace(NUMBER, '').startsWith(start);
}

async function runAll(copy: ScratchCopy, mutants: readonly Mutant[], signal: AbortSignal): Promise<void> {
  const { files, ...baseline } = await runBaseline(copy, mutants, signal);
  if (baseline.fault !== undefined) return close(0, [baseline.fault]);
  const faults: string[] = [];
  for (const mutant of mutants) {
    const startedMs = performance.now();
    const { kind, detail } = await tryMutant(copy, mutant, files, signal);
    if (kind !== 'killed') faults.push(`${mutant.name} ${kind}: ${detail}\n  ${mutant.breaks}`);
    const seconds = ((performance.now() - startedMs) / 1_000).toFixed(1);
    const word = kind === 'killed' ? kind : kind.toUpperCase();
    console.log(`${word.padEnd(9)} ${mutant.name} (${seconds} s): ${detail}`);
  }
  close(mutants.length - faults.length, faults);
}

/** Every suite without a bug: one that is red then says nothing of any. Tells how many seconds each took. */
async function runBaseline(
  { folder }: ScratchCopy,
  mutants: readonly Mutant[],
  signal: AbortSignal,
): Promise<{ readonly files: ReadonlyMap<string, number>; readonly fault: string | undefined }> {
  const suites = mutants.flatMap((mutant) => mutant.suites);
  const run = await runSuites(folder, suites, { limitMs: BASELINE_LIMIT_MS, signal });
  const files = new Map(run.files.map(({ file, seconds }) => [file, seconds]));
  const fault = baselineFault(run, suites, files);
  const unbroken = fault === undefined ? 'green' : 'RED';
  console.log(`${unbroken.padEnd(9)} ${files.size} suites without a mutant (${run.seconds.toFixed(1)} s)`);
  return { files, fault };
}

function baselineFault(
  { files, exitCode, isOverdue, output }: SuiteRun,
  suites: readonly string[],
  ran: ReadonlyMap<string, number>,
): string | undefined {
  const failed = files.flatMap((file) =>
    file.failed.map(({ title, message }) => `${file.file} > ${title}: ${message.split('\n')[0]}`),
  );
  const broken = files.flatMap(({ file, fault }) => (fault === undefined ? [] : [`${file}: ${fault}`]));
  const missing = suites.filter((suite) => !ran.has(suite));
  if (failed.length + broken.length > 0) return `without a mutant fail ${[...failed, ...broken].join('; ')}`;
  if (isOverdue) return 'without a mutant the suites do not end';
  if (missing.length > 0) return `without a mutant do not run ${missing.join(', ')}: ${output}`;
  return exitCode === 0 ? undefined : `without a mutant Vitest fails: ${output}`;
}

function tryMutant(
  copy: ScratchCopy,
  mutant: Mutant,
  baseline: ReadonlyMap<string, number>,
  signal: AbortSignal,
): Promise<Verdict> {
  return copy.mutated(mutant.patch, async () => {
    const verdicts: Verdict[] = [];
    for (const suite of mutant.suites) {
      const limitMs = LIMIT_MS + (baseline.get(suite) ?? 0) * 1_000 * LIMIT_FACTOR;
      const run = await runSuites(copy.folder, [suite], { limitMs, signal, bail: true });
      verdicts.push(judgeRun(mutant, run));
    }
    return judgeAll(verdicts);
  });
}

function close(killed: number, faults: readonly string[]): void {
  if (faults.length > 0) {
    console.log(`\n${faults.join('\n')}`);
    process.exitCode = 1;
  }
  console.log(`\n${killed} passed, ${faults.length} failed`);
}
