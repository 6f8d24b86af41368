import type { ErrorCode } from '../../../runtime/protocol/errors.ts';
import { memberIn, type SwarmRecord, subTaskIn } from '../swarm-record.ts';
import type { AssignmentEnd, SwarmFault, SwarmSubTask } from '../swarm-session.ts';
import { isCapable, isReady, type SwarmCard } from './capable.ts';
import { isHopeful } from './recruit.ts';

/** The sub-task did not reach the agent, or was lost with a neighbour's death before it began. */
const LOST: ReadonlySet<ErrorCode> = new Set([
  'THREAD_DIED',
  'MAILBOX_FULL',
  'DELIVERY_FAILED',
  'CHANNEL_CLOSED',
  'STORE_FAILED',
]);

/** The agent is not to be reached at all, by this owner or by anybody. */
const GONE: ReadonlySet<ErrorCode> = new Set([
  'AGENT_NOT_FOUND',
  'NOT_HERE',
  'SUPERVISOR_GAVE_UP',
  'TIER_VIOLATION',
  'SANDBOX_VIOLATION',
  'ESCALATION_REQUIRED',
  'SYSTEM_STOPPED',
  'CONTROL_LOST',
]);

/**
 * How an assignment that ended with this error ended, and whether its agent is gone from the swarm with it.
 * `wasHandedAgain`: its agent may have died with the coordinator that handed it over first, and of the same.
 */
export function decideEnd(
  { code }: Pick<SwarmFault, 'code'>,
  wasHandedAgain = false,
): { end: AssignmentEnd; isGone: boolean } {
  const isGone = GONE.has(code);
  const isLost = isGone || LOST.has(code) || (wasHandedAgain && code === 'ACTOR_DIED');
  return { end: isLost ? 'lost' : 'failed', isGone };
}

/** A sub-task that fails for good, and why. */
export interface Hopeless {
  readonly subTaskId: string;
  readonly error: SwarmFault;
}

/**
 * The sub-tasks that nobody is going to do any more: what they depend on failed, they were assigned too often, or nobody
 * is left who could take them and has not failed them.
 */
export function decideHopeless(record: SwarmRecord, cards: readonly SwarmCard[]): readonly Hopeless[] {
  const { subTasks } = record.session;
  return subTasks
    .filter(({ status }) => status === 'pending')
    .flatMap((subTask): Hopeless[] => {
      const error = whyHopeless(record, cards, subTask);
      return error === undefined ? [] : [{ subTaskId: subTask.id, error }];
    });
}

function whyHopeless(
  record: SwarmRecord,
  cards: readonly SwarmCard[],
  subTask: SwarmSubTask,
): SwarmFault | undefined {
  const failed = subTask.dependsOn.find((id) => subTaskIn(record, id)?.status === 'failed');
  if (failed !== undefined)
    return { code: 'REFUSED', message: `"${subTask.id}" depends on "${failed}", which failed` };
  if (!isReady(subTask, record.session.subTasks)) return undefined;
  if (subTask.assignments.length >= record.limits.maxAssignments)
    return nobodyLeft(record, cards, subTask, `It was assigned ${subTask.assignments.length} times`);
  return isHopeful(record, cards, subTask) ? undefined : nobodyLeft(record, cards, subTask, 'Nobody is left');
}

/** The code is that of the last assignment that went wrong; the sentence says who failed with what. */
export function nobodyLeft(
  record: SwarmRecord,
  cards: readonly SwarmCard[],
  subTask: SwarmSubTask,
  why: string,
): SwarmFault {
  const tried = subTask.assignments.map(({ agentId, end, error }) =>
    error === undefined ? `${agentId} ${end ?? 'has it'}` : `${agentId} ${end}: ${error.message}`,
  );
  const others = cards.filter((card) => isCapable(card, subTask)).flatMap(({ id }) => standingOf(record, id));
  const code = subTask.assignments.findLast(({ error }) => error !== undefined)?.error?.code;
  const who = [...tried, ...others];
  const wanted = subTask.requiredCapabilities.join(', ');
  const told = who.length === 0 ? `no agent has ${wanted}` : who.join('; ');
  return { code: code ?? 'CAPABILITY_NOT_FOUND', message: `${why} for "${subTask.id}" (${wanted}): ${told}` };
}

function standingOf(record: SwarmRecord, agentId: string): string[] {
  const member = memberIn(record, agentId);
  if (member === undefined || member.standing === 'willing') return [];
  const { standing, reason } = member;
  return [reason === undefined ? `${agentId} ${standing}` : `${agentId} ${standing} (${reason})`];
}
