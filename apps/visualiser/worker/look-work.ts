import { isTaskOver, type MachineScene, type MissionScene, nameIn, type Scene } from '../model/index.ts';
import type { MissionLook, ProposalLook, SubTaskLook, SwarmLook, TroubleLook, WorkLook } from './look.ts';
import { machineLook, waitLook } from './look-agent.ts';
import type { Sight } from './look-system.ts';

const MAX_ROWS = 200;
const MAX_TASKS = 1_000;

export function workLook({ scene }: Sight): WorkLook {
  const machines = [...scene.machines.values()];
  const proposals = [...scene.proposals.values()].reverse();
  const { tokens, costUsd, tokenLimit, costLimit, points } = scene.spending;
  return {
    view: 'work',
    mission: scene.mission === undefined ? undefined : missionLook(scene, scene.mission),
    spending: { tokens, costUsd, tokenLimit, costLimit, points },
    proposals: proposals.slice(0, MAX_ROWS).map(
      ({
        id,
        proposer,
        capability,
        conversationId,
        state,
        sinceMs,
        beganAtMs,
        deadlineAtMs,
        bids,
        assignee,
        notes,
      }): ProposalLook => ({
        ...{ id, capability, conversationId, state, sinceMs, beganAtMs, deadlineAtMs, bids },
        proposer: proposer === undefined ? undefined : nameIn(scene, proposer),
        assignee: assignee === undefined ? undefined : nameIn(scene, assignee),
        last: notes.at(-1)?.text,
      }),
    ),
    proposalTotal: proposals.length,
    swarms: swarmLooks(scene, machines),
    swarmNotes: scene.swarmNotes.slice(-50).reverse(),
    tasks: machines
      .filter(({ machine }) => machine === 'task')
      .slice(-MAX_ROWS)
      .reverse()
      .map(machineLook),
  };
}

function missionLook(scene: Scene, mission: MissionScene): MissionLook {
  const { name, beganAtMs, endedAtMs, success, reason, pausedBy, isGuessed } = mission;
  const tasks = [...mission.tasks.values()];
  return {
    ...{ name, beganAtMs, endedAtMs, success, reason, pausedBy, isGuessed },
    done: tasks.filter(({ state }) => isTaskOver(state)).length,
    tasks: tasks.slice(0, MAX_TASKS).map(({ facts, agentId, ...task }) => ({
      ...task,
      agentId,
      agentName: agentId === undefined ? undefined : nameIn(scene, agentId),
      facts: [...facts],
      conversationId: `${name}/${task.id}`,
    })),
  };
}

function swarmLooks(scene: Scene, machines: readonly MachineScene[]): SwarmLook[] {
  const subTasks = machines.filter(({ machine }) => machine === 'subTask');
  return machines
    .filter(({ machine }) => machine === 'swarm')
    .slice(-MAX_ROWS)
    .reverse()
    .map(({ actorId, agentId, state, sinceMs, isOver, facts }) => ({
      id: actorId,
      owner: agentId === undefined ? undefined : nameIn(scene, agentId),
      objective: String(facts.get('objective') ?? ''),
      ...{ state, sinceMs, isOver },
      subTasks: subTasks
        .filter(
          (one) => one.parentId === actorId || (one.parentId === undefined && isOf(one.actorId, actorId)),
        )
        .map((one) => subTaskLook(scene, one)),
    }));
}

/** Until a state of the team says it, the id of a sub-task says of which swarm it is. */
const isOf = (subTask: string, swarm: string): boolean => subTask.startsWith(swarm);

function subTaskLook(
  scene: Scene,
  { actorId, state, facts, reassignments, isOver }: MachineScene,
): SubTaskLook {
  const assignee = facts.get('assignee');
  const number = (name: string): number | undefined => {
    const fact = facts.get(name);
    return typeof fact === 'number' ? fact : undefined;
  };
  return {
    id: actorId,
    capability: String(facts.get('capability') ?? ''),
    state,
    assignee: typeof assignee === 'string' && assignee !== '' ? nameIn(scene, assignee) : undefined,
    epoch: number('epoch'),
    leaseUntilMs: number('leaseUntilMs'),
    attempts: number('attempts'),
    reassignments,
    isOver,
  };
}

const GAVE_UP: ReadonlySet<string> = new Set(['agent-failed', 'agent-parked', 'place-died']);

export function troubleLook({ scene, waits, troubles }: Sight): TroubleLook {
  return {
    view: 'trouble',
    // Who waits in time stands in the table of waits.
    troubles: troubles.filter(({ level, kind }) => level !== 'note' || kind !== 'wait').slice(0, MAX_ROWS),
    waits: waits.slice(0, MAX_ROWS).map((one) => waitLook(scene, one)),
    waitTotal: waits.length,
    deadLetters: [...scene.deadLetters].reverse(),
    deadLetterTotal: scene.deadLetterTotal,
    security: [...scene.security].reverse(),
    failures: [...scene.failures].reverse(),
    gaveUp: scene.lives.filter(({ type }) => GAVE_UP.has(type)).reverse(),
    tainted: [...scene.agents.values()]
      .filter(({ taint }) => taint.length > 0)
      .map(({ id, name, taint }) => ({ id, name, sources: taint })),
  };
}
