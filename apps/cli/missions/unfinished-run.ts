import type { RunFolder } from './run-folder.ts';
import { isFinished, type RunRecord } from './run-record.ts';

/**
 * Why a mission may not be begun, as a sentence: it runs already, or its last run was not finished and nobody has said whether
 * to go on with it. Undefined if it may.
 */
export function unfinishedRun(
  folder: Pick<RunFolder, 'read'>,
  { isAnew, isResumed }: { readonly isAnew: boolean; readonly isResumed: boolean },
): string | undefined {
  const found = folder.read();
  if (found === undefined) return undefined;
  if (found.kind === 'own' && found.status === 'running') return runsAlready(found.record);
  if (isAnew || isResumed) return undefined;
  if (found.kind === 'foreign')
    return `${found.file} tells of a run, but ${found.why}: --anew begins anew and replaces it`;
  if (isFinished(found.record)) return undefined;
  return `The mission "${found.record.mission}" was not finished: ${howItEnded(found.record)}; 'orrery resume' goes on with it, --anew begins anew`;
}

/** That a mission cannot be begun or resumed, because its process lives. */
export const runsAlready = ({ mission, process: { pid } }: RunRecord): string =>
  `The mission "${mission}" is carried out by process ${pid} already; 'orrery ps' shows it, 'orrery stop' ends it`;

/** How a run that is not running has ended. */
export const howItEnded = ({ ended, process: { pid } }: RunRecord): string =>
  ended === undefined ? `its process ${pid} died` : `it ended as ${ended.stopReason}`;
