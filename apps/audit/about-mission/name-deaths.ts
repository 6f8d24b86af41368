import type { EarlierResult, Note } from '@orrery/ralph-loop';
import type { AboutMission } from '../planet.ts';

/** The kind of notes about tools that died. */
const TOOL_DIED = 'tool-died';
/** The ends of attempts, and of tasks, with a result. */
const GOOD_ENDS: ReadonlySet<string> = new Set(['accepted', 'nothing']);

/** MIMAS's report: tools that died, attempts that failed, and tasks that failed. */
export function nameDeaths(results: readonly EarlierResult[]): AboutMission {
  const deaths = results.flatMap(({ id, notes }) =>
    notes.filter(({ kind }) => kind === TOOL_DIED).map(({ reason }) => note(TOOL_DIED, `${id}: ${reason}`)),
  );
  const lost = results.flatMap(({ id, attempts }) =>
    attempts
      .filter(({ ended }) => !GOOD_ENDS.has(ended))
      .map(({ number, agent, ended, reason = 'no reason was given' }) =>
        note('attempt-lost', `${id}, attempt ${number} of ${agent} (${ended}): ${reason}`),
      ),
  );
  const failed = results
    .filter(({ status }) => !GOOD_ENDS.has(status))
    .map(({ id, status, why }) => note('task-lost', `${id} is ${status}: ${why}`));
  const named = [
    count(deaths, 'tool died', 'tools died'),
    count(lost, 'attempt came to nothing', 'attempts came to nothing'),
    count(failed, 'task was not done', 'tasks were not done'),
  ].filter((part) => part !== undefined);
  const summary =
    named.length === 0 ? 'Nothing died, and nothing had to be tried again.' : `${named.join('; ')}.`;
  return { summary, notes: [...deaths, ...lost, ...failed] };
}

const note = (kind: string, reason: string): Note => ({ kind, reason });

const count = (of: readonly Note[], one: string, several: string): string | undefined =>
  of.length === 0 ? undefined : `${of.length} ${of.length === 1 ? one : several}`;
