import type { RunScope } from './run-scope.ts';

/** How long it is from one look at the files of all attempts to the next, milliseconds. */
const LOOK_MS = 20_000;
/** The share of the time of a mission at which is warned. */
const NEAR = 0.8;

/** Tells while a mission runs when its time is nearly over, and which attempts change the same file. Returns what ends it. */
export function watchCode(run: RunScope, startedAtMs: number): () => void {
  const { clock, code, deadlineAtMs, tell } = run;
  const told = new Set<string>();
  const look = async (): Promise<void> => {
    for (const { path, ids } of (await code?.liveOverlaps().catch(() => [])) ?? []) {
      const key = `${path}\0${ids.join('\0')}`;
      if (told.has(key) || run.signal.aborted) continue;
      told.add(key);
      tell({ type: 'tasks.overlap', path, tasks: ids });
    }
  };
  let cancelLook = (): void => undefined;
  const wait = (): void => {
    cancelLook = clock.setTimer(LOOK_MS, () => {
      void look().then(() => run.signal.aborted || wait());
    });
  };
  if (code !== undefined) wait();
  const cancelNear =
    code === undefined || deadlineAtMs === undefined
      ? () => undefined
      : clock.setTimer((deadlineAtMs - startedAtMs) * NEAR, () =>
          tell({
            type: 'limit.near',
            task: undefined,
            what: 'timeMs',
            used: clock.now() - startedAtMs,
            limit: deadlineAtMs - startedAtMs,
          }),
        );
  return () => {
    cancelLook();
    cancelNear();
  };
}
