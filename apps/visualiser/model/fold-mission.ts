import { numberOf, textOf } from './fold-work.ts';
import { spendTo } from './fold-traffic.ts';
import type { SceneDraft } from './scene-draft.ts';
import type { MissionScene, TaskScene } from './scene.ts';
import type { StateMission } from './watch-state.ts';
import { isSystemId, type WatchedEvent } from './watched-event.ts';

const STATE_AFTER: Readonly<Record<string, string>> = {
  'task-started': 'working',
  'task-submitted': 'judging',
  gate: 'judging',
  'task-retried': 'working',
  'task-accepted': 'accepted',
  'task-failed': 'failed',
  'task-blocked': 'blocked',
};

/** What an event says of the mission's board. Missions of other nodes are shown there. */
export function applyMission(draft: SceneDraft, event: WatchedEvent): void {
  if (event.node !== undefined) return;
  if (event.type === 'mission') told(draft, event);
  else guess(draft, event);
}

function told(draft: SceneDraft, event: WatchedEvent): void {
  const { mission: name = draft.missionName ?? 'a mission', step = '', timestamp, task, facts } = event;
  const mission = draft.missionOf(name);
  if (mission.isGuessed) {
    mission.isGuessed = false;
    mission.tasks.clear();
  }
  if (step === 'mission-started')
    Object.assign(mission, { name, beganAtMs: timestamp, endedAtMs: undefined, pausedBy: undefined });
  if (step === 'mission-ended') {
    mission.endedAtMs = timestamp;
    mission.success = event.success;
    mission.reason = event.reason;
  }
  if (step === 'mission-paused') mission.pausedBy = textOf(facts?.get('pausedBy')) ?? 'somebody';
  if (step === 'mission-resumed' || step === 'mission-ended') mission.pausedBy = undefined;
  // What stands at a task is the task's own.
  if (task === undefined) {
    takeSpending(draft, facts);
    return;
  }
  const before = mission.tasks.get(task) ?? emptyTask(task, timestamp);
  const state =
    textOf(facts?.get('state')) ??
    (Object.hasOwn(STATE_AFTER, step) ? STATE_AFTER[step] : undefined) ??
    before.state;
  const attempts = numberOf(facts?.get('attempts'));
  putTask(mission, {
    ...before,
    title: textOf(facts?.get('title')) ?? before.title,
    state,
    sinceMs: state === before.state ? before.sinceMs : timestamp,
    agentId: event.agentId ?? before.agentId,
    attempts: attempts ?? before.attempts + (step === 'task-started' || step === 'task-retried' ? 1 : 0),
    reason: event.reason ?? (step === 'task-started' ? undefined : before.reason),
    gates:
      step === 'gate' && event.gate !== undefined
        ? [
            ...before.gates.filter(({ name: gate }) => gate !== event.gate),
            { name: event.gate, passed: event.success !== false, reason: event.reason, atMs: timestamp },
          ].slice(-32)
        : before.gates,
    facts: facts === undefined ? before.facts : new Map([...before.facts, ...facts]),
  });
}

function takeSpending(draft: SceneDraft, facts: WatchedEvent['facts']): void {
  const tokens = numberOf(facts?.get('tokens'));
  const costUsd = numberOf(facts?.get('costUsd'));
  const tokenLimit = numberOf(facts?.get('budgetTokens'));
  const costLimit = numberOf(facts?.get('budgetCostUsd'));
  if (tokens === undefined && costUsd === undefined && tokenLimit === undefined && costLimit === undefined)
    return;
  const spending = draft.spendingToChange();
  spending.tokenLimit = tokenLimit ?? spending.tokenLimit;
  spending.costLimit = costLimit ?? spending.costLimit;
  if (tokens === undefined && costUsd === undefined) return;
  // It may tell only now and then: meanwhile the calls of models add up.
  spendTo(draft, Math.max(tokens ?? 0, spending.tokens), Math.max(costUsd ?? 0, spending.costUsd));
}

/** A trace without events of the mission names it in its header, and its tasks in the ids of conversations. */
function guess(draft: SceneDraft, event: WatchedEvent): void {
  const name = draft.missionName;
  const { correlationId, type, timestamp } = event;
  if (name === undefined || correlationId === undefined || !correlationId.startsWith(`${name}/`)) return;
  const known = draft.mission;
  if (known !== undefined && !known.isGuessed) return;
  const id = correlationId.slice(name.length + 1);
  const before = known?.tasks.get(id);
  const { outcome, messageType, sender, recipient = '' } = event;
  const isAsked = messageType === 'request' && sender !== undefined && isSystemId(sender);
  const state =
    type === 'message-received' && isAsked
      ? 'working'
      : type === 'envelope-settled' && isAsked
        ? outcome === 'handled'
          ? 'answered'
          : 'failed'
        : (before?.state ?? 'offered');
  // Whoever is asked first works at it; the gates ask others.
  const agentId = before?.agentId ?? (isAsked ? (event.targetAgentId ?? recipient) : undefined);
  if (before !== undefined && before.state === state && before.agentId === agentId) return;
  const mission = draft.missionOf(name);
  mission.isGuessed = true;
  const isBegun = type === 'message-received' && isAsked && agentId === (event.targetAgentId ?? recipient);
  const attempts = (before?.attempts ?? 0) + (isBegun ? 1 : 0);
  putTask(mission, { ...(before ?? emptyTask(id, timestamp)), state, agentId, attempts, sinceMs: timestamp });
}

const MAX_TASKS = 5_000;

function putTask(mission: MissionScene, task: TaskScene): void {
  if (mission.tasks.size < MAX_TASKS || mission.tasks.has(task.id)) mission.tasks.set(task.id, task);
}

function emptyTask(id: string, atMs: number): TaskScene {
  return {
    id,
    title: undefined,
    state: 'waiting',
    agentId: undefined,
    attempts: 0,
    sinceMs: atMs,
    reason: undefined,
    gates: [],
    facts: new Map(),
  };
}

/** The board as a state of the team has it. */
export function takeMission(draft: SceneDraft, board: StateMission): void {
  const mission = draft.missionOf(board.name);
  mission.name = board.name;
  mission.isGuessed = false;
  mission.pausedBy = board.pausedBy;
  const before = mission.tasks;
  mission.tasks = new Map();
  for (const task of board.tasks) {
    const known = before.get(task.id) ?? emptyTask(task.id, draft.atMs);
    putTask(mission, {
      ...known,
      title: task.title ?? known.title,
      state: task.state,
      sinceMs: known.state === task.state ? known.sinceMs : draft.atMs,
      agentId: task.agentId ?? known.agentId,
      attempts: task.attempts,
      gates: task.gates.map(({ name, passed, reason }) => {
        const atMs = known.gates.find((gate) => gate.name === name)?.atMs ?? draft.atMs;
        return { name, passed, reason, atMs };
      }),
    });
  }
  const { tokens, costUsd } = board;
  if (tokens === undefined && costUsd === undefined) return;
  const spending = draft.spendingToChange();
  spending.isTold = true;
  spending.tokenLimit = tokens?.limit ?? spending.tokenLimit;
  spending.costLimit = costUsd?.limit ?? spending.costLimit;
  spendTo(draft, tokens?.spent ?? spending.tokens, costUsd?.spent ?? spending.costUsd);
}
