import {
  type AgentScene,
  durationText,
  isSystemId,
  type MachineScene,
  nameIn,
  type Scene,
  shownText,
} from '@orrery/visualiser/model';
import { ownMachines } from './team-rows.ts';

/** Who an agent is and how it stands, in a few lines. */
export function agentCard(agent: Readonly<AgentScene>, scene: Scene): string[] {
  const { id, name, tier, capabilities, place, node, status, sinceMs, sent, handled, failed, restarts } =
    agent;
  const who = isSystemId(id) ? 'part of the runtime' : `tier ${tier ?? 'unknown'}`;
  const where = [place ?? 'nowhere yet', ...(node === undefined ? [] : [`on ${node}`])].join(' ');
  const machines = ownMachines(scene, id).slice(0, 8);
  const { inHand, lastError, taint } = agent;
  const lines = [
    `${name}${name === id ? '' : ` (${id})`}, ${who}, in ${where}`,
    ...(capabilities.length === 0 ? [] : [`Can: ${capabilities.join(', ')}`]),
    `Is ${status} for ${durationText(Math.max(0, scene.atMs - sinceMs))}; sent ${sent}, handled ${handled}, failed at ${failed}, was started again ${restarts === 1 ? 'once' : `${restarts} times`}`,
    ...(inHand === undefined
      ? []
      : [
          `Works at ${inHand.capability ?? inHand.messageType ?? 'an envelope'} of ${nameIn(scene, inHand.sender)} for ${durationText(Math.max(0, scene.atMs - inHand.sinceMs))}`,
        ]),
    ...(lastError === undefined ? [] : [`Its last error: ${lastError.text}`]),
    ...(taint.length === 0 ? [] : [`Holds text from outside: ${taint.join(', ')}`]),
    ...machines.map(
      (machine) =>
        `${machine.machine}${machine.actorId === id ? '' : ` ${machine.actorId}`}: ${machine.state}${sinceOf(machine, scene)}`,
    ),
  ];
  return lines.map((line) => shownText(line, 400));
}

/** For how long a machine has been where it is, if its last step was seen. */
function sinceOf({ isOver, steps, sinceMs }: MachineScene, { atMs }: Scene): string {
  if (isOver) return ', over';
  return steps.length === 0 ? '' : `, for ${durationText(Math.max(0, atMs - sinceMs))}`;
}
