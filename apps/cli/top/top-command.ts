import type { Clock } from 'orrery';
import type { CommandDeps } from '../command.ts';
import { runtimeFolder } from '../own-folder.ts';
import type { TypedOptions } from '../run-plan.ts';
import { sceneJson } from '../scene-json.ts';
import { snapshotLines } from '../team-lines.ts';
import { shownOf } from '../team-rows.ts';
import { LiveView } from './live-view.ts';
import { TeamRecord } from './team-record.ts';
import { ProcessTerminal } from './terminal.ts';
import { WatchLink, WatchRefused, type WatchTarget } from '../watch/watch-link.ts';
import { isServed, watchTarget } from '../watch/watch-target.ts';

const EXIT_FAILED = 1;
/** How wide lines are where nobody says it. */
const PIPE_COLUMNS = 110;

/** Runs `orrery top`: shows a running team until somebody ends it. Resolves to the exit code. */
export async function topCommand(options: TypedOptions, deps: CommandDeps): Promise<number> {
  const { screen, errors } = deps;
  const target = await watchTarget(options, { folder: runtimeFolder(process.env), isServed });
  const isLive =
    options['once'] !== true && options['json'] !== true && screen.isTerminal && process.stdin.isTTY === true;
  try {
    return isLive ? await watchLive(target, deps) : await printNow(target, options['json'] === true, deps);
  } catch (error) {
    if (!(error instanceof WatchRefused)) throw error;
    errors.write(`orrery: ${error.message}\n`);
    return EXIT_FAILED;
  }
}

/** Prints how the team is now, as soon as it says so. */
async function printNow(target: () => WatchTarget, isJson: boolean, deps: CommandDeps): Promise<number> {
  const { screen, errors, clock, interruption } = deps;
  const enough = new AbortController();
  const record = new TeamRecord(() => {
    if (record.hasState || record.status.kind === 'lost') enough.abort();
  });
  await linked(target, record, clock, AbortSignal.any([enough.signal, interruption.signal]));
  if (record.hasState) {
    const scene = record.recording.latest;
    const columns = screen.isTerminal ? screen.columns : PIPE_COLUMNS;
    const lines = isJson
      ? [JSON.stringify(sceneJson(scene), null, 2)]
      : snapshotLines(shownOf(scene), { columns, paint: screen.paint });
    screen.write(`${lines.join('\n')}\n`);
    return 0;
  }
  if (interruption.signal.aborted) return interruption.exitCode;
  const { status } = record;
  const why = status.kind === 'lost' ? status.why : 'it says nothing';
  errors.write(`orrery: ${target().url} cannot be watched: ${why}\n`);
  return EXIT_FAILED;
}

const linked = (
  target: () => WatchTarget,
  sink: TeamRecord,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> => new WatchLink({ target, fetch, clock, sink }).run(signal);

/** Shows the team on the terminal until a key or a signal ends it. */
async function watchLive(
  target: () => WatchTarget,
  { screen, clock, interruption }: CommandDeps,
): Promise<number> {
  const quit = new AbortController();
  const record = new TeamRecord(() => view.change());
  const terminal = new ProcessTerminal({
    input: process.stdin,
    output: process.stdout,
    process,
    paint: screen.paint,
  });
  const view = new LiveView(record, { terminal, clock, onQuit: () => quit.abort() });
  view.open();
  try {
    await linked(target, record, clock, AbortSignal.any([quit.signal, interruption.signal]));
  } finally {
    view.close();
  }
  return interruption.signal.aborted ? interruption.exitCode : 0;
}
