import {
  type AgentScene,
  type MachineScene,
  nameIn,
  type Recording,
  type Scene,
  type Wait,
} from '../model/index.ts';
import type { AgentDetail, AgentLook, MachineLook, WaitLook } from './look.ts';
import { agentRow, levelsOf, type Sight, waitsByWaiter } from './look-system.ts';

const MAX_MACHINES = 40;
const MAX_WAITS = 50;

export function agentLook(sight: Sight, recording: Recording, id: string): AgentLook {
  const agent = sight.scene.agents.get(id);
  return { view: 'agent', id, agent: agent === undefined ? undefined : detailOf(sight, recording, agent) };
}

function detailOf(sight: Sight, recording: Recording, agent: AgentScene): AgentDetail {
  const { scene, waits, troubles } = sight;
  const { id } = agent;
  const wait = waitsByWaiter(waits).get(id);
  const { version, capabilities, place, node, pid, threadId, group, isolation, sinceMs, lastSeenMs } = agent;
  const { retryAtMs, parked, sent, handled, failed, taint, lastError } = agent;
  return {
    ...agentRow(sight, agent, { level: levelsOf(troubles).get(id), wait }),
    ...{ version, capabilities, place, node, pid, threadId, group, isolation, sinceMs, lastSeenMs },
    ...{ retryAtMs, parked, sent, handled, failed, taint, lastError },
    machines: machinesOf(scene, id),
    waitsForWhom: waits
      .filter(({ waiter }) => waiter === id)
      .slice(0, MAX_WAITS)
      .map((one) => waitLook(scene, one)),
    waitedForBy: waits
      .filter(({ awaited }) => awaited === id)
      .slice(0, MAX_WAITS)
      .map((one) => waitLook(scene, one)),
    conversations: recording.conversations({ agentId: id, max: 20 }),
    troubles: troubles.filter(({ agentId }) => agentId === id),
  };
}

/** The machines of an agent: its own logic and its life first, those that are over last. */
function machinesOf(scene: Scene, id: string): MachineLook[] {
  const found: MachineScene[] = [];
  for (const machine of scene.machines.values()) if (machine.agentId === id) found.push(machine);
  const rank = ({ machine, isOver, actorId }: MachineScene): number =>
    isOver ? 3 : machine === 'agentLife' || machine === 'cell' ? 1 : actorId === id ? 0 : 2;
  return found
    .sort((one, other) => rank(one) - rank(other) || other.sinceMs - one.sinceMs)
    .slice(0, MAX_MACHINES)
    .map(machineLook);
}

export function machineLook(machine: MachineScene): MachineLook {
  const { key, actorId, agentId, state, sinceMs, isOver, nextTimer, facts, steps, guards } = machine;
  return {
    ...{ key, machine: machine.machine, actorId, agentId, state, sinceMs, isOver, nextTimer },
    ...{ facts: [...facts], steps, guards },
  };
}

export const waitLook = (scene: Scene, wait: Wait): WaitLook => ({
  ...wait,
  waiterName: nameIn(scene, wait.waiter),
  awaitedName: nameIn(scene, wait.awaited),
});
