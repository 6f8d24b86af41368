import { firstLine } from './first-line.ts';
import type { GateReceipt } from '../gates/gate-receipt.ts';
import type { Attempt } from './attempt.ts';
import { type Choice, withAnswers, withChoice } from './choice.ts';
import type { EventOf, TaskContext, TaskEvent } from './task-context.ts';
import type { LostAnswer } from './lost-answer.ts';
import type { TaskResult } from './task-result.ts';
import { taintOfAll } from './work-taint.ts';

/** How often a task may rest; after that a limit is a failure as any other. */
export const MAX_RESTS = 20;
/** The first rest, and the longest if its agent does not say how long it takes, milliseconds. */
const LEAST_REST_MS = 15_000;
const MAX_REST_MS = 900_000;

type Changes = Partial<TaskContext>;

/** Whether another attempt is allowed after the current one. */
export const hasAttemptsLeft = (task: TaskContext): boolean => attemptOf(task) < task.maxAttempts;

/** The number of the attempt under way, from 1. One that a run before has left counts as well. */
export const attemptOf = ({ attempts, kept, assignee }: TaskContext): number => {
  const before = attempts.length + (kept ?? 0);
  return kept !== undefined && assignee === undefined ? before : before + 1;
};

/** The changes of a task's context by an event. */
export function learn(task: TaskContext, event: TaskEvent): Changes {
  switch (event.type) {
    case 'work.remembered':
      return {
        ...event.context,
        choices: event.context.choices ?? [],
        item: task.item,
        proposalId: undefined,
        unjudged: [],
        why: 'it was accepted in a run before',
      };
    case 'agent.assigned':
      return {
        proposedTo: event.to,
        choices: withChoice(task.choices, choiceOf(task, event)),
        why: event.why,
      };
    case 'proposal.accepted':
      return {
        ...attemptBegun(event.atMs),
        assignee: event.by,
        proposalId: event.proposalId,
        choices: withAnswers(task.choices, event.answers),
        why: event.why,
      };
    case 'swarm.formed':
      return {
        ...attemptBegun(event.atMs),
        swarm: { id: event.swarmId, assignments: [], lates: 0 },
        why: event.why,
      };
    case 'swarm.moved':
      return { swarm: event.part, assignee: event.assignee ?? task.assignee };
    case 'work.used':
      return { used: event.usage };
    case 'work.tainted':
      return { taint: taintOfAll([task.taint, event.taint]) };
    case 'proposal.declined':
      return {
        declined: [...task.declined, ...event.by],
        choices: withAnswers(task.choices, event.answers),
        why: event.why,
      };
    case 'agent.found':
      return { declined: [], isRecovered: true, why: event.why };
    case 'agent.answered':
      return answered(task, event);
    case 'answer.invalid':
      return invalidAnswer(task, event);
    case 'agent.lost':
      return lost(task, event);
    case 'gate.judged':
      return judged(task, event);
    case 'gate.lost':
      return {
        ...attemptEnded(task, event.atMs, { ended: 'unjudged', reason: event.why }),
        ...leftUnjudged(task),
        why: event.why,
      };
    case 'change.checked':
      return checked(task, event);
    case 'change.reviewed':
      return reviewed(task, event);
    case 'change.merged':
      return merged(task, event);
    case 'change.lost':
      return { ...attemptEnded(task, event.atMs, { ended: 'unjudged', reason: event.why }), why: event.why };
    case 'change.remembered':
      return {
        commit: event.commit,
        why: `it was merged as ${event.commit.slice(0, SHORT_HASH)} in a run before`,
      };
    case 'change.kept':
      return { kept: event.attempt };
    case 'mission.ended':
    case 'task.skipped':
      return cutOff(task, event);
    default:
      return { why: event.why };
  }
}

const choiceOf = (task: TaskContext, { to, choice }: EventOf<'agent.assigned'>): Choice => ({
  ...{ agent: to.agent, bids: [], answers: [], ...choice },
  attempt: attemptOf(task),
});

const whatIsChecked = ({ item }: TaskContext, { findings }: TaskResult): string =>
  item.code === undefined ? `findings to check: ${findings.length}` : 'its change is checked';

function answered(task: TaskContext, { result, atMs }: EventOf<'agent.answered'>): Changes {
  if (!hadNothing(result)) return { result, answeredAtMs: atMs, why: whatIsChecked(task, result) };
  return {
    ...attemptEnded(task, atMs, { ended: 'nothing' }),
    result,
    findings: [],
    why: `nothing to read: ${result.nothing}`,
  };
}

/** Whether the agent had nothing to read, so that there is nothing to judge. */
export const hadNothing = ({ nothing, findings }: TaskResult): boolean =>
  nothing !== undefined && findings.length === 0;

/** Ends an attempt with an invalid answer. Its faults are the feedback for the next one. */
function invalidAnswer(task: TaskContext, { why, atMs }: EventOf<'answer.invalid'>): Changes {
  return {
    ...attemptEnded(task, atMs, { ended: 'malformed', reason: why }),
    ...attemptBegun(atMs),
    feedback: `The answer was not a task result: ${why}`,
    isRevised: true,
    why: `what ${task.assignee?.agent} answered is not a task result: ${why}`,
  };
}

/** Ends an attempt without an answer. Open feedback stays for the next agent. */
function lost(task: TaskContext, event: EventOf<'agent.lost'>): Changes {
  const { answer, atMs } = event;
  if (answer.code === 'RATE_LIMITED' && task.rests < MAX_RESTS) return limited(task, event);
  return {
    ...attemptEnded(task, atMs, { ended: 'lost', code: answer.code, reason: answer.reason }),
    assignee: undefined,
    proposalId: undefined,
    why: `no answer from ${task.assignee?.agent ?? 'the swarm'}: ${answer.reason}`,
  };
}

/** It goes to another agent, or rests. Neither costs an attempt. */
function limited(task: TaskContext, { answer, atMs, other }: EventOf<'agent.lost'>): Changes {
  const agent = task.assignee?.agent ?? 'the swarm';
  const why = `${agent} takes no more work for now: ${answer.reason}`;
  return {
    assignee: undefined,
    proposalId: undefined,
    used: undefined,
    rests: task.rests + 1,
    restsUntilMs: atMs + restMs(task.rests, answer),
    ...(other === undefined
      ? { declined: [], why }
      : { declined: [...task.declined, { agent, reason: answer.reason }], why: `${why}; ${other} is there` }),
  };
}

/** How long it rests, milliseconds: longer each time, for what an agent says of its limit may be wrong. */
export const restMs = (rests: number, { retryAfterMs = 0 }: LostAnswer): number =>
  Math.max(retryAfterMs, Math.min(MAX_REST_MS, LEAST_REST_MS * 2 ** rests));

function judged(task: TaskContext, { judgement, atMs }: EventOf<'gate.judged'>): Changes {
  const { verdict, approved, refused, feedback } = judgement;
  const checked = { findings: approved, refused: [...task.refused, ...refused] };
  if (verdict === 'APPROVED') {
    return {
      ...attemptEnded(task, atMs, { ended: 'accepted' }),
      ...checked,
      why: `the gate approved it; findings: ${approved.length}`,
    };
  }
  return {
    ...attemptEnded(task, atMs, { ended: 'refused', reason: feedback }),
    ...attemptBegun(atMs),
    ...checked,
    feedback,
    isRevised: true,
    why: `the gate says ${verdict}: ${feedback}`,
  };
}

function checked(task: TaskContext, { verdict, atMs }: EventOf<'change.checked'>): Changes {
  const receipts = verdict.verdict?.receipts ?? [];
  if (verdict.isAccepted)
    return { receipts, why: `its gates have passed in its worktree: ${named(receipts)}` };
  return { ...sentBack(task, atMs, verdict.feedback), receipts };
}

function reviewed(task: TaskContext, { vetoes, atMs }: EventOf<'change.reviewed'>): Changes {
  if (vetoes.length === 0) return { why: `nobody vetoes it: ${task.item.code?.reviewers.join(', ')}` };
  return sentBack(task, atMs, vetoes.map(({ agent, reason }) => `${agent} vetoes it: ${reason}`).join('\n'));
}

function merged(task: TaskContext, { merged: outcome, atMs }: EventOf<'change.merged'>): Changes {
  switch (outcome.kind) {
    case 'merged':
      return {
        ...attemptEnded(task, atMs, { ended: 'accepted' }),
        receipts: [...task.receipts, ...outcome.verdict.receipts],
        commit: outcome.commit,
        why: `merged as ${outcome.commit.slice(0, SHORT_HASH)}; its gates have passed: ${named(outcome.verdict.receipts)}`,
      };
    case 'empty':
      return {
        ...attemptEnded(task, atMs, { ended: 'accepted' }),
        why: 'the branch has the same change already',
      };
    case 'conflict': {
      const reason = `others have changed the same lines meanwhile, in ${outcome.files.join(', ')}`;
      return {
        ...sentBack(
          task,
          atMs,
          `${reason}. The files are now as those have left them: do the task again on these.`,
        ),
        isRequeued: true,
      };
    }
    case 'refused':
      return {
        ...sentBack(
          task,
          atMs,
          `It passed in its own worktree, and not together with what others did. ${outcome.verdict.feedback ?? ''}`,
        ),
        receipts: [...task.receipts, ...outcome.verdict.receipts],
      };
  }
}

/** Ends an attempt that was refused, and begins the next. */
const sentBack = (task: TaskContext, atMs: number, feedback: string): Changes => ({
  ...attemptEnded(task, atMs, { ended: 'refused', reason: firstLine(feedback) }),
  ...attemptBegun(atMs),
  feedback,
  isRevised: true,
  why: firstLine(feedback),
});

const SHORT_HASH = 10;

const named = (receipts: readonly GateReceipt[]): string => receipts.map(({ gate }) => gate).join(', ');

/** Ends the current attempt, if there is one, because the mission has ended or somebody skipped the task. */
function cutOff(task: TaskContext, { why, atMs }: EventOf<'mission.ended' | 'task.skipped'>): Changes {
  if (task.assignee === undefined) return { why };
  return { ...attemptEnded(task, atMs, { ended: 'cancelled', reason: why }), ...leftUnjudged(task), why };
}

/** Preserves the findings of a result that was not judged. */
const leftUnjudged = ({ answeredAtMs, result }: TaskContext): Changes =>
  answeredAtMs === undefined ? {} : { unjudged: result?.findings ?? [] };

const attemptBegun = (atMs: number): Changes => ({
  startedAtMs: atMs,
  answeredAtMs: undefined,
  result: undefined,
  used: undefined,
});

function attemptEnded(
  task: TaskContext,
  atMs: number,
  how: Pick<Attempt, 'ended' | 'code' | 'reason'>,
): Changes {
  if (task.assignee === undefined) return {};
  const { startedAtMs, answeredAtMs } = task;
  const attempt: Attempt = {
    ...task.assignee,
    number: attemptOf(task),
    startedAtMs,
    durationMs: (answeredAtMs ?? atMs) - startedAtMs,
    ...(answeredAtMs === undefined ? {} : { gateMs: atMs - answeredAtMs }),
    ...(task.used === undefined ? {} : { usage: task.used }),
    ...how,
  };
  return { attempts: [...task.attempts, attempt] };
}
