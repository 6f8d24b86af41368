import { once } from 'node:events';
import {
  advanceSpending,
  buildReport,
  capabilitiesOf,
  changesCode,
  explainTask,
  gatherReceipts,
  htmlReport,
  type LoopEvent,
  MissionSkills,
  missingLoopAgents,
  type MissionOutcome,
  type MissionReport,
  NO_SPENDING,
  openProgress,
  printable,
  pullRequestText,
  type Receipts,
  type ReportDetail,
  runMission,
  sarifReport,
  type Spending,
  terminalReport,
} from '@orrery/ralph-loop';
import type { System, Team } from 'orrery';
import { type CommandDeps, EXIT_UNWRITTEN } from './command.ts';
import { MissionWatch } from './watch/mission-watch.ts';
import { runtimeFolder } from './own-folder.ts';
import { newToken, TokenFile } from './up-token.ts';
import { builtPage, watchLines } from './watch/watch-page.ts';
import { BoardView } from './board-view.ts';
import type { Interruption } from './interruption.ts';
import type { OutputFile } from './output-file.ts';
import { CodeRun, synced } from './code-run.ts';
import { LinesView } from './lines-view.ts';
import { NdjsonView, reportLine } from './ndjson-view.ts';
import { ProgressView } from './progress-view.ts';
import { planRun, type RunPlan, type Shown, type TypedOptions } from './run-plan.ts';
import { startTeam } from './start-team.ts';
import { TraceFile } from './trace-file.ts';
import { VerboseView } from './verbose-view.ts';
import { variablesMeant, variableWarnings } from './variables-meant.ts';
import { NO_VIEW, type View } from './view.ts';

/** How long an interrupted run waits for its receipts, milliseconds. */
const RECEIPTS_MS = 200;

/** Runs `orrery run`. Resolves to the exit code. */
export async function runCommand(
  options: TypedOptions,
  positionals: readonly string[],
  deps: CommandDeps,
): Promise<number> {
  const plan = await planRun(options, positionals, deps.clock);
  for (const warning of variableWarnings(variablesMeant(options['backend'], plan.mission, process.env)))
    deps.errors.write(`orrery: ${warning}\n`);
  // After a second Ctrl-C half a trace is useful, half a report is not.
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

/** Discards all outputs that are not committed. */
function discardAll({ outputs }: RunPlan): void {
  for (const file of Object.values(outputs)) file.discard();
}

async function carryOut(plan: RunPlan, deps: CommandDeps): Promise<number> {
  const { interruption, errors, screen } = deps;
  if (isTalkative(plan)) screen.write(`${beginning(plan)}\n`);
  const started = await untilStopped(startWhole(plan), interruption);
  if (started === undefined) {
    errors.write('orrery: Stopped while the agents were starting; no task was begun\n');
    return interruption.exitCode;
  }
  await using system = started;
  const { note } = await system.loop.client();
  const mission = new MissionWatch(note);
  using _tokenFile = await serveWatch(system, plan, mission, deps);
  const stopTrace = await startTrace(system, plan, deps);
  const skills = missionSkills(system, plan, deps);
  const { outcome, spending, code } = await watched(system, plan, { watch: mission, skills }, deps);
  using _steered = code;
  const sync = await synced(plan, outcome);
  const { failOn, levels, baseline } = plan;
  const { signalNumber } = interruption;
  const skillsReport = await skills?.conclude();
  const receipts = await receiptsOf(system, outcome, deps);
  const report = buildReport(outcome, {
    levels,
    ...(baseline === undefined ? {} : { baseline: baseline.findings }),
    ...(failOn === undefined ? {} : { failOn }),
    ...(signalNumber === undefined ? {} : { signalNumber }),
    ...(skillsReport === undefined ? {} : { skills: skillsReport }),
    ...(receipts === undefined ? {} : { receipts }),
    spending,
  });
  // At once: the end of an interrupted run is cut off.
  code?.end(outcome.stopReason, { exitCode: report.exitCode, isSynced: sync.isWhole });
  // The reports first: the end of an interrupted run is cut off, and a trace is of use without its last events.
  const failures = [...writeReports(report, plan, deps), await stopTrace(), sync.failure].filter(
    (one) => one !== undefined,
  );
  for (const failure of failures) errors.write(`orrery: ${failure}\n`);
  if (isTalkative(plan)) screen.write(sync.text + written(plan));
  if (plan.watch !== undefined) await untilInterrupted(plan, deps);
  if (interruption.signal.aborted) await system.stop({ drainMs: 0 });
  return report.exitCode === 0 && failures.length > 0 ? EXIT_UNWRITTEN : report.exitCode;
}

/** Whether a run prints more than its report, or than lines for scripts. */
const isTalkative = ({ shows }: RunPlan): boolean => shows !== 'quiet' && shows !== 'ndjson';

/** The line before the agents start, which takes a moment. */
function beginning({ mission, root }: RunPlan): string {
  const { length } = mission.tasks.flatMap(capabilitiesOf);
  return printable(`${mission.name} on ${root}: ${length} task${length === 1 ? '' : 's'}`);
}

/** The line that names the written files; empty if a report went to standard output. */
function written({ outputs }: RunPlan): string {
  const files = Object.values(outputs);
  const whole = files.filter(({ failure }) => failure === undefined);
  if (whole.length === 0 || files.some(({ isPlain }) => !isPlain)) return '';
  return `Written: ${whole.map(({ path }) => printable(path)).join(', ')}\n`;
}

/** Starts the agents, with SUN and MERCURY unless other agents have their capabilities. */
async function startWhole({ agents, skills, workers, journal }: RunPlan): Promise<Team> {
  const system = await startTeam({
    agents: [...agents, ...(skills?.agents ?? [])],
    ...(workers === undefined ? {} : { workers }),
    ...(journal === undefined ? {} : { journal }),
  });
  try {
    const missing = missingLoopAgents(await system.roster());
    if (missing.length > 0) await system.start(missing);
    return system;
  } catch (error) {
    await system.stop({ drainMs: 0 });
    throw error;
  }
}

/** Resolves to the result of `work`; undefined if the run is interrupted first. The process ends then. */
async function untilStopped<T>(work: Promise<T>, { signal }: Interruption): Promise<T | undefined> {
  const { promise: stopped, resolve } = Promise.withResolvers<undefined>();
  const stop = () => resolve(undefined);
  if (signal.aborted) stop();
  signal.addEventListener('abort', stop, { once: true });
  try {
    return await Promise.race([stopped, work]);
  } finally {
    signal.removeEventListener('abort', stop);
    work.catch(() => undefined);
  }
}

const missionSkills = (
  team: Team,
  { skills, root, mission }: RunPlan,
  { clock, interruption }: CommandDeps,
): MissionSkills | undefined =>
  skills &&
  new MissionSkills({
    team,
    root,
    mission: mission.name,
    project: skills.project,
    now: () => clock.now(),
    signal: interruption.signal,
  });

/** What came of a mission. `code` is to be ended, if it changes a repository. */
interface Watched {
  readonly outcome: MissionOutcome;
  readonly spending: Spending;
  readonly code: CodeRun | undefined;
}

async function watched(
  system: Team,
  plan: RunPlan,
  { watch, skills }: { readonly watch: MissionWatch; readonly skills: MissionSkills | undefined },
  deps: CommandDeps,
): Promise<Watched> {
  const { interruption, clock } = deps;
  const { mission, root, journal, isResumed, baseline } = plan;
  const progress =
    journal === undefined ? undefined : await openProgress(system.records, mission, { root, isResumed });
  const code = await CodeRun.open(plan, { progress, tell: (event) => tell(event) }, deps);
  const view = await viewOf(plan, system, deps);
  let spending = NO_SPENDING;
  const tell = (event: LoopEvent): void => {
    spending = advanceSpending(spending, event);
    code?.hear(event);
    watch.hear(event);
    view.show(event);
  };
  try {
    const outcome = await runMission(
      mission,
      {
        root,
        signal: interruption.signal,
        onEvent: tell,
        onControl: (control) => code?.attach(control),
        ...(baseline === undefined ? {} : { baseline: baseline.path }),
      },
      {
        team: system,
        clock,
        ...(progress && { progress }),
        ...(skills && { skills }),
        ...(code && { code: code.work }),
      },
    );
    return { outcome, spending, code };
  } finally {
    await code?.close();
    view.close();
  }
}

/** Starts the trace; resolves to a function that ends it, and returns its failure, if any. */
async function startTrace(
  system: System,
  { mission, root, outputs: { record } }: RunPlan,
  { clock, version }: CommandDeps,
): Promise<() => Promise<string | undefined>> {
  if (record === undefined) return async () => undefined;
  const agents = (await system.roster()).map(({ id, name, tier, capabilities, place }) => ({
    id,
    name,
    tier,
    capabilities,
    place,
  }));
  const { drawingOf, MACHINES } = await import('orrery/machines');
  const machines = [...MACHINES.map(drawingOf), ...(await system.machines())];
  const header = {
    format: 'orrery-trace',
    version: 1,
    orrery: version,
    startedAtMs: clock.now(),
    mission: mission.name,
    root,
    agents,
    machines,
  } as const;
  const trace = new TraceFile(record, header);
  const stop = await system.inspect((event) => trace.record(event), { inOrder: true });
  return async () => {
    await stop();
    trace.commit();
    return trace.failure;
  };
}

/** Serves the visualiser, and says where, unless that is not asked for; resolves to the file with its token. */
async function serveWatch(
  system: Team,
  { watch, mission: { name }, shows }: RunPlan,
  mission: MissionWatch,
  { screen, errors, interruption }: CommandDeps,
): Promise<TokenFile | undefined> {
  if (watch === undefined) return undefined;
  const page = await builtPage();
  const { token, authenticator } = newToken();
  const { url, port } = await system.serve({
    name,
    port: watch.port,
    a2a: false,
    mcp: false,
    authenticators: [authenticator],
    watch: { ...watch.options, ...(page && { page }), mission: () => mission.board },
  });
  const { unlockToken } = watch.options;
  // Standard output is for the lines alone that a script reads.
  (shows === 'ndjson' ? errors : screen).write(`${watchLines(url, { token, unlockToken }).join('\n')}\n`);
  try {
    const file = new TokenFile(runtimeFolder(process.env), port, token);
    // Removed at once, because a slow end is cut off.
    interruption.signal.addEventListener('abort', () => file[Symbol.dispose](), { once: true });
    return file;
  } catch (error) {
    // The run is worth more than that 'orrery top' finds it by itself.
    errors.write(`orrery: ${error instanceof Error ? error.message : String(error)}\n`);
    return undefined;
  }
}

/** The page goes on to show a run that is over. */
async function untilInterrupted({ shows }: RunPlan, deps: CommandDeps): Promise<void> {
  const { interruption, screen, errors } = deps;
  const { signal } = interruption;
  if (signal.aborted) return;
  (shows === 'ndjson' ? errors : screen).write('The visualiser shows it until Ctrl-C\n');
  await once(signal, 'abort');
}

async function viewOf(
  { shows, mission }: RunPlan,
  system: System,
  { screen, clock }: CommandDeps,
): Promise<View> {
  if (shows === 'quiet') return NO_VIEW;
  if (shows === 'ndjson') return new NdjsonView(screen);
  if (shows === 'verbose') return new VerboseView(screen);
  const changes = mission.tasks.filter(changesCode).map(({ id }) => id);
  if (!screen.isTerminal) return new LinesView(screen, changes);
  if (shows === 'progress') return new ProgressView(screen, clock, changes);
  const agents = (await system.roster()).map(({ id }) => id);
  return new BoardView(screen, clock, agents, changes);
}

const DETAILS: Readonly<Record<Exclude<Shown, 'ndjson'>, ReportDetail>> = {
  progress: 'short',
  board: 'short',
  quiet: 'brief',
  verbose: 'full',
};

/** Gathers receipts; an interrupted run waits only briefly. */
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

/** Prints the report and writes it to all outputs; returns their failures. */
function writeReports(
  report: MissionReport,
  { explain, shows, outputs }: RunPlan,
  { screen, version }: CommandDeps,
): (string | undefined)[] {
  const { json, sarif, html, 'pull-request': pullRequest } = outputs;
  if (shows === 'ndjson') screen.write(reportLine(report));
  else {
    const explained = explain === undefined ? [] : explainTask(report, explain, screen.paint);
    const lines = [...explained, ...terminalReport(report, screen.paint, DETAILS[shows])];
    screen.write(`${lines.join('\n')}\n`);
  }
  return [
    writeWhole(json, () => asJson(report)),
    writeWhole(sarif, () => asJson(sarifReport(report, version))),
    writeWhole(html, () => htmlReport(report)),
    writeWhole(pullRequest, () => pullRequestText(report)),
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
