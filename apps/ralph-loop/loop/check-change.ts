import { fromCallback } from 'xstate';
import { MAX_TIMEOUT_MS } from '../mission/mission.ts';
import { lostAnswer } from './lost-answer.ts';
import type { RunScope } from './run-scope.ts';
import type { ChangeOrder, RestOrder } from './task.machine.ts';
import type { TaskEvent } from './task-context.ts';

/** The actor of a change that is checked: its gates are run in its worktree. It stops when the task's machine leaves the state. */
export const checkChange = (run: RunScope) =>
  fromCallback<TaskEvent, ChangeOrder>(({ input: { item }, sendBack }) => {
    const left = new AbortController();
    void changeEvent(run, async (code) => ({
      type: 'change.checked',
      verdict: await code.check(item, left.signal),
      atMs: run.clock.now(),
    })).then(sendBack);
    return () => left.abort();
  });

/** The actor of a change that is merged. It stops when the task's machine leaves the state. */
export const mergeChange = (run: RunScope) =>
  fromCallback<TaskEvent, ChangeOrder>(({ input: { item }, sendBack }) => {
    const left = new AbortController();
    void changeEvent(run, async (code) => ({
      type: 'change.merged',
      merged: await code.merge(item, left.signal),
      atMs: run.clock.now(),
    })).then(sendBack);
    return () => left.abort();
  });

/** The actor of a task that rests: waits until its agent may be asked again. It stops when the task's machine leaves the state. */
export const rest = ({ clock }: RunScope) =>
  fromCallback<TaskEvent, RestOrder>(({ input: { untilMs }, sendBack }) =>
    clock.setTimer(Math.min(MAX_TIMEOUT_MS, Math.max(0, untilMs - clock.now())), () =>
      sendBack({ type: 'rest.over', why: 'its agent may be asked again' }),
    ),
  );

/** The event that `work` comes to. It never rejects. */
async function changeEvent(
  { code, clock }: RunScope,
  work: (code: NonNullable<RunScope['code']>) => Promise<TaskEvent>,
): Promise<TaskEvent> {
  try {
    if (code === undefined) throw new Error('the mission does not say how it changes the repository');
    return await work(code);
  } catch (error) {
    return {
      type: 'change.lost',
      why: `the repository could not be worked on: ${lostAnswer(error).reason}`,
      atMs: clock.now(),
    };
  }
}
