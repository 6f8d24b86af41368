import { OrreryError } from '../../runtime/protocol/errors.ts';
import type { SwarmSession } from './swarm-session.ts';

const refusal = (message: string, details: Readonly<Record<string, unknown>>): OrreryError =>
  new OrreryError('REFUSED', message, { details });

export const noSuchSwarm = (swarmId: string): OrreryError =>
  refusal(`There is no swarm "${swarmId}"`, { swarmId });

export const swarmOver = ({ id, status }: SwarmSession): OrreryError =>
  refusal(`The swarm ${id} takes nobody in any more: it is ${status}`, { swarmId: id, status });

export const nothingToDo = ({ id }: SwarmSession, agentId: string, why: string): OrreryError =>
  refusal(`The swarm ${id} has nothing to do for ${agentId}, which ${why}`, { swarmId: id, agentId });

export const notInSwarm = ({ id }: SwarmSession, agentId: string, subTaskId?: string): OrreryError => {
  const what = subTaskId === undefined ? 'takes no part in it' : `never had its sub-task "${subTaskId}"`;
  return refusal(`${agentId} has no say in the swarm ${id}: it ${what}`, { swarmId: id, agentId, subTaskId });
};

/** For a report that is late: it is kept, and does not count. */
export const noLongerYours = ({ id }: SwarmSession, subTaskId: string, epoch: number): OrreryError =>
  new OrreryError(
    'TAKEN',
    `Assignment ${epoch} of "${subTaskId}" in the swarm ${id} does not stand any more`,
    {
      details: { swarmId: id, subTaskId, epoch },
    },
  );

export const notYours = (swarmId: string, callerId: string, agentId?: string): OrreryError =>
  refusal(
    agentId === undefined
      ? `${callerId} does not own the swarm ${swarmId}`
      : `${callerId} cannot act for ${agentId} in the swarm ${swarmId}, which it does not own`,
    { swarmId, callerId, agentId },
  );
