import { nearest } from '@orrery/ralph-loop';
import { machineIdOf, type MachineScene, type Scene, type TraceHeader } from '@orrery/visualiser/model';
import type { MachineDrawing } from 'orrery/machines';
import { UsageError } from '../usage-error.ts';

/** An actor that a machine was of, and the state that it was in. */
export type Standing = Pick<MachineScene, 'actorId' | 'agentId' | 'state'>;

/** A machine to draw, and the actors of it that there were, those that moved last first. */
export interface DrawnMachine {
  readonly drawing: MachineDrawing;
  readonly actors: readonly Standing[];
}

/** The drawing of a machine by its id, of an agent if one is given, and how it stood. Throws UsageError. */
export async function drawnMachine(
  scene: Scene,
  header: TraceHeader | undefined,
  { id, agentId }: { readonly id: string; readonly agentId: string | undefined },
): Promise<DrawnMachine> {
  const machine = machineIdOf(id);
  const drawings = await drawingsOf(header);
  const those = drawings.filter((one) => one.id === machine);
  const drawing =
    those.find((one) => one.agentId === agentId) ??
    those.find((one) => one.agentId === undefined) ??
    those[0];
  if (drawing === undefined) throw noMachine(id, drawings);
  const actors: readonly Standing[] = [...scene.machines.values()]
    .filter((one) => one.machine === machine && one.state !== '')
    .filter((one) => agentId === undefined || one.agentId === agentId)
    .sort((one, other) => other.sinceMs - one.sinceMs);
  return {
    drawing,
    actors: actors.length > 0 || agentId === undefined ? actors : lifeOf(scene, machine, agentId),
  };
}

/** An agent that has lived from before the recording on has not moved in its life: it is in the state that it has said. */
function lifeOf({ agents }: Scene, machine: string, agentId: string): readonly Standing[] {
  const agent = agents.get(agentId);
  if (machine !== 'agentLife' || agent === undefined) return [];
  return [{ actorId: agentId, agentId, state: agent.status }];
}

/** Older traces have no drawings; those of the system are as today's. */
async function drawingsOf(header: TraceHeader | undefined): Promise<readonly MachineDrawing[]> {
  const recorded = header?.machines ?? [];
  if (recorded.length > 0) return recorded;
  const { drawingOf, MACHINES } = await import('orrery/machines');
  return MACHINES.map(drawingOf);
}

function noMachine(id: string, drawings: readonly MachineDrawing[]): UsageError {
  const ids = [...new Set(drawings.map((one) => one.id))].sort();
  const meant = nearest(id, ids);
  const hint = meant === undefined ? '' : `; did you mean "${meant}"?`;
  return new UsageError(`Option "--machine" is "${id}", expected one of ${ids.join(', ')}${hint}`);
}
