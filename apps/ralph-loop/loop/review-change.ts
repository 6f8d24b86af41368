import { codeReview } from 'orrery/coding';
import { fromCallback } from 'xstate';
import { lostAnswer } from './lost-answer.ts';
import { attemptTimeoutMs, type RunScope } from './run-scope.ts';
import { takeReport } from './take-report.ts';
import type { ReviewOrder } from './task.machine.ts';
import type { TaskEvent, Veto } from './task-context.ts';
import { tainted } from './work-taint.ts';

/** The actor of a change that is reviewed: asks its reviewers, all at once. It stops when the task's machine leaves the state. */
export const reviewChange = (run: RunScope) =>
  fromCallback<TaskEvent, ReviewOrder>(({ input, sendBack }) => {
    const left = new AbortController();
    void review(run, input, left.signal).then(sendBack);
    return () => left.abort();
  });

/** Resolves to the event for what they say. Without the verdict of one nobody knows whether it would have vetoed. */
async function review(run: RunScope, order: ReviewOrder, signal: AbortSignal): Promise<TaskEvent> {
  const { item } = order;
  const { clock, code } = run;
  try {
    if (code === undefined) throw new Error('the mission does not say how it changes the repository');
    const change = await code.changeOf(item, signal);
    const found = await Promise.all(
      (item.code?.reviewers ?? []).map((agent) => vetoOf(run, { ...order, agent, ...change }, signal)),
    );
    return { type: 'change.reviewed', vetoes: found.flatMap((veto) => veto ?? []), atMs: clock.now() };
  } catch (error) {
    const why = `it could not be reviewed: ${lostAnswer(error).reason}`;
    return { type: 'change.lost', why, atMs: clock.now() };
  }
}

interface Asked extends ReviewOrder {
  readonly agent: string;
  readonly root: string;
  readonly diff: string;
}

/** Asks a reviewer, and once more if it fails: that says nothing of the change. */
async function vetoOf(run: RunScope, asked: Asked, signal: AbortSignal): Promise<Veto | undefined> {
  try {
    return await ask(run, asked, signal);
  } catch (error) {
    if (lostAnswer(error).isLasting || signal.aborted) throw error;
    return await ask(run, asked, signal);
  }
}

async function ask(
  run: RunScope,
  { item, attempt, agent, root, diff, taint }: Asked,
  signal: AbortSignal,
): Promise<Veto | undefined> {
  const { id, title, description, acceptance, code } = item;
  const task = {
    id,
    title,
    acceptance: [...acceptance],
    ...(description === undefined ? {} : { description }),
  };
  try {
    const { isVetoed, reason } = await run.team.loop.ask(
      { agent, capability: codeReview },
      { root, task, attempt, diff, limits: run.spending.leftFor(id, code?.limits ?? {}) },
      {
        timeoutMs: attemptTimeoutMs(run, item),
        signal,
        correlationId: item.correlationId,
        whenFull: 'park',
        ...tainted(taint),
        onProgress: ({ report }) => {
          if (report !== undefined) takeReport(run, { item, agent, report });
        },
      },
    );
    return isVetoed ? { agent, reason } : undefined;
  } finally {
    run.spending.ended(id, agent);
  }
}
