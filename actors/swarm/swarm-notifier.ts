import { z } from 'zod';
import { isOrreryError, reasonOf } from '../../runtime/protocol/errors.ts';
import { outcomeOf } from './swarm-outcome.ts';
import type { SwarmReach } from './swarm-reach.ts';
import { memberIn } from './swarm-record.ts';
import { SwarmFault, SwarmStatus } from './swarm-session.ts';
import type { StoredRecord } from './stored-record.ts';

const About = { swarmId: z.string() };

/**
 * What a coordinator tells of its own accord, as the payload of a notification.
 *
 * - `swarm.state`     the shared state has changed: `subTaskId` is the key, the value can be read.
 * - `swarm.escalated` a sub-task failed for good and nobody is left to do it. To the owner.
 * - `swarm.withdrawn` the agent's assignment was taken away: what it still sends is late. To that agent.
 * - `swarm.ended`     with the outcome, to the owner; without, to the participants.
 */
export const SwarmNotice = z.discriminatedUnion('kind', [
  z.object({
    ...About,
    kind: z.literal('swarm.state'),
    status: SwarmStatus,
    stateVersion: z.int().nonnegative(),
    subTaskId: z.string(),
  }),
  z.object({ ...About, kind: z.literal('swarm.escalated'), subTaskId: z.string(), error: SwarmFault }),
  z.object({
    ...About,
    kind: z.literal('swarm.withdrawn'),
    subTaskId: z.string(),
    epoch: z.int(),
    reason: z.string(),
  }),
  z.object({
    ...About,
    kind: z.literal('swarm.ended'),
    status: SwarmStatus,
    outcome: z.unknown().optional(),
  }),
]);
export type SwarmNotice = z.infer<typeof SwarmNotice>;

/** What a swarm tells its owner, and those participants that listen. */
export class SwarmNotifier {
  readonly #record: StoredRecord;
  readonly #reach: SwarmReach;

  constructor(record: StoredRecord, reach: SwarmReach) {
    this.#record = record;
    this.#reach = reach;
  }

  /** The swarm is in another state. */
  moved(): void {
    const { id, status, participants, subTasks, error } = this.#record.current.session;
    const done = subTasks.filter((one) => one.status === 'completed').length;
    const team = participants.length === 0 ? '' : `, done by ${participants.join(', ')}`;
    const why = error === undefined ? '' : `: ${error.code}: ${error.message}`;
    const progress = `${done} of ${subTasks.length} sub-tasks completed${team}`;
    this.#note(`The swarm ${id} is ${status}, ${progress}${why}`, status !== 'failed');
  }

  /** The store did not take what has happened: it stands as it was. */
  notKept(error: unknown): void {
    const { session } = this.#record.current;
    this.#reach.note({
      correlationId: session.correlationId,
      reason: `The store of the swarm ${session.id} did not keep what has happened: ${reasonOf(error)}`,
      isGood: false,
      errorCode: isOrreryError(error) ? error.code : 'STORE_FAILED',
    });
  }

  /** A report did not count. */
  heardLate(agentId: string, subTaskId: string, epoch: number): void {
    this.#note(`${agentId} reported on "${subTaskId}" too late: assignment ${epoch} is over`, false, agentId);
  }

  /** The shared state has a new result. */
  stateChanged(subTaskId: string): void {
    const { id: swarmId, status, stateVersion, ownerId } = this.#record.current.session;
    const notice: SwarmNotice = { kind: 'swarm.state', swarmId, status, stateVersion, subTaskId };
    this.#tell(ownerId, notice);
    for (const agentId of this.#listeners()) this.#tell(agentId, notice);
  }

  escalated(subTaskId: string, error: SwarmFault): void {
    const { id: swarmId, ownerId } = this.#record.current.session;
    this.#note(error.message, false);
    this.#tell(ownerId, { kind: 'swarm.escalated', swarmId, subTaskId, error });
  }

  withdrawn(agentId: string, about: { subTaskId: string; epoch: number; reason: string }): void {
    const { current } = this.#record;
    const { subTaskId, reason } = about;
    this.#note(`"${subTaskId}" was taken from ${agentId}: ${reason}`, reason === 'left', agentId);
    if (memberIn(current, agentId)?.listens !== true) return;
    this.#tell(agentId, { kind: 'swarm.withdrawn', swarmId: current.session.id, ...about });
  }

  ended(): void {
    const { current } = this.#record;
    const { id: swarmId, status, ownerId } = current.session;
    this.#tell(ownerId, { kind: 'swarm.ended', swarmId, status, outcome: outcomeOf(current) });
    for (const agentId of this.#listeners()) this.#tell(agentId, { kind: 'swarm.ended', swarmId, status });
    for (const member of current.team) if (member.standing === 'willing') this.#reach.dismiss(member);
  }

  #listeners(): readonly string[] {
    const { session, team } = this.#record.current;
    return team
      .filter(
        ({ agentId, listens, standing }) => listens && standing === 'willing' && agentId !== session.ownerId,
      )
      .map(({ agentId }) => agentId);
  }

  #note(reason: string, isGood: boolean, agentId?: string): void {
    const { correlationId } = this.#record.current.session;
    const whom = agentId === undefined ? {} : { agentId };
    this.#reach.note({ correlationId, reason, isGood, ...whom });
  }

  #tell(agentId: string, notice: SwarmNotice): void {
    const { session, behalf } = this.#record.current;
    const { correlationId } = session;
    const tell = (): void => this.#reach.notify(agentId, { correlationId, behalf }, notice);
    // What is kept for the agent is kept together with what it is about.
    if (this.#reach.isKeptFor(agentId)) tell();
    else this.#record.whenSaved(tell);
  }
}
