import {
  buildReport,
  explainTask,
  gatherReceipts,
  htmlReport,
  type MissionOutcome,
  type MissionReport,
  openProgress,
  type Receipts,
  runMission,
  sarifReport,
  terminalReport,
} from '@orrery/ralph-loop';
import type { System, Team } from 'orrery';
import { type CommandDeps, EXIT_UNWRITTEN } from './command.ts';
import { LiveView, type View } from './live-view.ts';
import type { OutputFile } from './output-file.ts';
import { PlainView } from './plain-view.ts';
import { planRun, type RunPlan, type TypedOptions } from './run-plan.ts';
import { startTeam } from './start-team.ts';
import { TraceFile } from './trace-file.ts';

/** How long an interrupted run waits for its receipts. */
const RECEIPTS_MS = 200;

/** `orrery run`: the exit code. */
export async function runCommand(
  options: TypedOptions,
  positionals: readonly string[],
  deps: CommandDeps,
): Promise<number> {
  const plan = await planRun(options, positionals);
  // A second Ctrl-C ends the process in the middle: half a report helps nobody, half a trace does.
  const onExit = () => {
    plan.outputs.record?.commit();
    discardAll(plan);
  };
  process.once('exit', onExit);
  try {
    return await carryOut(plan, deps);
  } finally {
    process.off('exit', onExit);
    discardAll(plan);
  }
}

/** What was committed stays. */
function discardAll({ outputs }: RunPlan): void {
  for (const file of Object.values(outputs)) file.discard();
}

async function carryOut(plan: RunPlan, deps: CommandDeps): Promise<number> {
  const { interruption, errors } = deps;
  await using system = await startTeam({
    ...(plan.workers === undefined ? {} : { workers: plan.workers }),
    ...(plan.journal === undefined ? {} : { journal: plan.journal }),
  });
  const stopTrace = await startTrace(system, plan, deps);
  const outcome = await watched(system, plan, deps);
  const { failOn } = plan;
  const { signalNumber } = interruption;
  const receipts = await receiptsOf(system, outcome, deps);
  const report = buildReport(outcome, {
    ...(failOn === undefined ? {} : { failOn }),
    ...(signalNumber === undefined ? {} : { signalNumber }),
    ...(receipts === undefined ? {} : { receipts }),
  });
  const failures = [stopTrace(), ...writeReports(report, plan, deps)].filter((one) => one !== undefined);
  for (const failure of failures) errors.write(`orrery: ${failure}\n`);
  if (interruption.signal.aborted) await system.stop({ drainMs: 0 });
  return report.exitCode === 0 && failures.length > 0 ? EXIT_UNWRITTEN : report.exitCode;
}

async function watched(system: Team, plan: RunPlan, deps: CommandDeps): Promise<MissionOutcome> {
  const { interruption, clock } = deps;
  const { mission, root, journal, isResumed } = plan;
  const progress =
    journal === undefined ? undefined : await openProgress(system.records, mission, { root, isResumed });
  const view = await viewOf(system, deps);
  const onEvent = view.show.bind(view);
  try {
    return await runMission(
      mission,
      { root, signal: interruption.signal, onEvent },
      { team: system, clock, ...(progress === undefined ? {} : { progress }) },
    );
  } finally {
    view.close();
  }
}

/** What is returned ends the trace, and says what went wrong with it, if anything did. */
async function startTrace(
  system: System,
  { mission, root, outputs: { record } }: RunPlan,
  { clock, version }: CommandDeps,
): Promise<() => string | undefined> {
  if (record === undefined) return () => undefined;
  const agents = (await system.roster()).map(({ id, name, tier, capabilities, place }) => ({
    id,
    name,
    tier,
    capabilities,
    place,
  }));
  const header = {
    format: 'orrery-trace',
    version: 1,
    orrery: version,
    startedAtMs: clock.now(),
    mission: mission.name,
    root,
    agents,
  } as const;
  const trace = new TraceFile(record, header);
  const stop = await system.inspect((event) => trace.record(event));
  return () => {
    stop();
    trace.commit();
    return trace.failure;
  };
}

async function viewOf(system: System, { screen, clock }: CommandDeps): Promise<View> {
  if (!screen.isTerminal) return new PlainView(screen);
  return new LiveView(
    screen,
    clock,
    (await system.roster()).map(({ id }) => id),
  );
}

/** Receipts are wanted, but somebody who pressed Ctrl-C does not wait for them. */
async function receiptsOf(
  system: System,
  outcome: MissionOutcome,
  { clock, interruption }: CommandDeps,
): Promise<Receipts | undefined> {
  if (!interruption.signal.aborted) return gatherReceipts(system, outcome);
  const { promise: late, resolve } = Promise.withResolvers<undefined>();
  const cancel = clock.setTimer(RECEIPTS_MS, () => resolve(undefined));
  try {
    return await Promise.race([gatherReceipts(system, outcome).catch(() => undefined), late]);
  } finally {
    cancel();
  }
}

/** Prints the report and writes it in every form that was asked for; what went wrong with any of them. */
function writeReports(
  report: MissionReport,
  { explain, outputs: { json, sarif, html } }: RunPlan,
  { screen, version }: CommandDeps,
): (string | undefined)[] {
  const explained = explain === undefined ? [] : explainTask(report, explain, screen.paint);
  screen.write(`${[...explained, ...terminalReport(report, screen.paint)].join('\n')}\n`);
  return [
    writeWhole(json, () => asJson(report)),
    writeWhole(sarif, () => asJson(sarifReport(report, version))),
    writeWhole(html, () => htmlReport(report)),
  ];
}

const asJson = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

function writeWhole(file: OutputFile | undefined, textOf: () => string): string | undefined {
  if (file === undefined) return undefined;
  file.write(textOf());
  file.commit();
  if (file.failure === undefined) return undefined;
  return `The report could not be written to ${file.path}: ${file.failure}`;
}
