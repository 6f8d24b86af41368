/** The state machines of a system and of its agents, as data and as drawings: `orrery/machines`. */
import type { AnyStateMachine } from 'xstate';
import { negotiatorMachine } from './actors/negotiator/negotiator.machine.ts';
import { proposerMachine } from './actors/negotiator/proposer.machine.ts';
import { responderMachine } from './actors/negotiator/responder.machine.ts';
import { assignmentMachine } from './actors/swarm/assignment.machine.ts';
import { coordinatorMachine } from './actors/swarm/coordinator.machine.ts';
import { subTaskMachine } from './actors/swarm/sub-task.machine.ts';
import { swarmMachine } from './actors/swarm/swarm.machine.ts';
import { taskMachine } from './actors/tasks/task.machine.ts';
import { importAgent } from './runtime/agent/import-agent.ts';
import { cellMachine } from './runtime/cell/cell.machine.ts';
import { channelMachine } from './runtime/channels/channel.machine.ts';
import { peerMachine } from './runtime/peers/peer.machine.ts';
import { agentProcessMachine } from './runtime/processes/agent-process.machine.ts';
import { threadRouterMachine } from './runtime/routing/thread-router.machine.ts';
import { agentLifeMachine } from './runtime/supervision/agent-life.machine.ts';
import { isMachine } from './runtime/upgrade/state-identity.ts';

export { drawMachine } from './runtime/machine/draw-machine.ts';
export {
  type DrawnState,
  type DrawnTransition,
  drawingOf,
  type MachineDrawing,
} from './runtime/machine/machine-drawing.ts';

/** The machines that a system itself runs; each has an id of its own. */
export const MACHINES: readonly AnyStateMachine[] = [
  agentLifeMachine,
  agentProcessMachine,
  assignmentMachine,
  cellMachine,
  channelMachine,
  coordinatorMachine,
  negotiatorMachine,
  peerMachine,
  proposerMachine,
  responderMachine,
  subTaskMachine,
  swarmMachine,
  taskMachine,
  threadRouterMachine,
];

/**
 * The agent that a module exports, by its id, with its machine where its logic is one. Nothing is started. Fails with
 * MODULE_INVALID, naming the module and why it cannot be used.
 */
export async function machineOfAgent(
  module: URL,
): Promise<{ readonly id: string; readonly machine: AnyStateMachine | undefined }> {
  const { options, actorLogic } = await importAgent(module.href);
  return { id: options.id, machine: isMachine(actorLogic) ? actorLogic : undefined };
}
