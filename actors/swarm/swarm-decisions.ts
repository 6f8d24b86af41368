import type { ErrorCode, ErrorData } from '../../runtime/protocol/errors.ts';
import { memberIn, type SwarmRecord, subTaskIn } from './swarm-record.ts';
import type { AssignmentEnd, SwarmFault, SwarmSubTask } from './swarm-session.ts';

/** What decisions look at of a card: which of the swarm's required capabilities it has. */
export interface SwarmCard {
  readonly id: string;
  readonly capabilities: ReadonlySet<string>;
}

/** Says whether the card has every capability that the sub-task requires. */
export const isCapable = (
  { capabilities }: SwarmCard,
  { requiredCapabilities }: Pick<SwarmSubTask, 'requiredCapabilities'>,
): boolean => requiredCapabilities.every((wanted) => capabilities.has(wanted));

/** So often an assignment may be lost between the same two. */
const MAX_LOST = 2;

/**
 * Says whether the agent has shown that it cannot do the sub-task: it failed it, or stalled over it. An assignment that
 * was given back by leaving says nothing of the kind, nor does one that was lost on the way, unless that happens again.
 */
export function hasFailed({ assignments }: SwarmSubTask, agentId: string): boolean {
  const own = assignments.filter((one) => one.agentId === agentId);
  if (own.some(({ end }) => end === 'failed' || end === 'stalled')) return true;
  // One that was lost with a coordinator has no error.
  return own.filter(({ end, error }) => end === 'lost' && error !== undefined).length >= MAX_LOST;
}

/** How often the agent has had the sub-task. */
export const timesAssigned = ({ assignments }: SwarmSubTask, agentId: string): number =>
  assignments.filter((one) => one.agentId === agentId).length;

/** Says whether everything that the sub-task depends on is completed. */
export const isReady = (subTask: SwarmSubTask, subTasks: readonly SwarmSubTask[]): boolean =>
  subTask.status === 'pending' &&
  subTask.dependsOn.every((wanted) =>
    subTasks.some(({ id, status }) => id === wanted && status === 'completed'),
  );

/** Proposals to one agent that has not answered any; more would be pestering. */
const MAX_INVITATIONS = 2;

/** An agent and what it is wanted for: its card has all of it. */
export interface Invitation {
  readonly agentId: string;
  readonly requiredCapabilities: readonly string[];
}

/** Whom to propose to at first: whoever can do at least one of the sub-tasks, in registration order. */
export const decideInvitations = (record: SwarmRecord, cards: readonly SwarmCard[]): readonly Invitation[] =>
  invite(record, cards, record.session.subTasks);

/** Whom to propose to for sub-tasks that nobody who is willing, or thinks it over, can take: whoever else could. */
export function decideSubstitutes(
  record: SwarmRecord,
  cards: readonly SwarmCard[],
  wanted: readonly SwarmSubTask[],
): readonly Invitation[] {
  return invite(
    record,
    cards,
    wanted.filter((subTask) => !isHopeful(record, cards, subTask)),
  );
}

/** Says whether some agent that is willing, or has not answered yet, could take the sub-task. */
export const isHopeful = (record: SwarmRecord, cards: readonly SwarmCard[], subTask: SwarmSubTask): boolean =>
  cards.some((card) => {
    const standing = memberIn(record, card.id)?.standing;
    return (standing === 'willing' || standing === 'invited') && couldTake(card, subTask);
  });

/** The sub-tasks that no willing agent can do. */
export const uncovered = (record: SwarmRecord, cards: readonly SwarmCard[]): readonly SwarmSubTask[] => {
  const willing = cards.filter(({ id }) => memberIn(record, id)?.standing === 'willing');
  return record.session.subTasks.filter((subTask) => !willing.some((card) => couldTake(card, subTask)));
};

function invite(
  record: SwarmRecord,
  cards: readonly SwarmCard[],
  wanted: readonly SwarmSubTask[],
): readonly Invitation[] {
  if (wanted.length === 0) return [];
  return cards.flatMap((card): Invitation[] => {
    if (!mayBeInvited(record, card.id)) return [];
    const suited = wanted.filter((subTask) => couldTake(card, subTask));
    if (suited.length === 0) return [];
    const requiredCapabilities = [...new Set(suited.flatMap((subTask) => subTask.requiredCapabilities))];
    return [{ agentId: card.id, requiredCapabilities }];
  });
}

function mayBeInvited(record: SwarmRecord, agentId: string): boolean {
  const member = memberIn(record, agentId);
  return member === undefined || (member.standing === 'silent' && member.invitations < MAX_INVITATIONS);
}

const couldTake = (card: SwarmCard, subTask: SwarmSubTask): boolean =>
  isCapable(card, subTask) && !hasFailed(subTask, card.id);

/**
 * What is known of the agents at the moment of a decision.
 *
 * - `cards`  whom the owner may see, in registration order.
 * - `loadOf` envelopes that the agent has in hand and waiting, whoever gave them, and what the owner has given it; Infinity
 *            where it takes none.
 * - `heldBy` sub-tasks of this swarm. Both count what was taken away from it and what it has not answered: it may be at
 *            that.
 */
export interface TeamView {
  readonly cards: readonly SwarmCard[];
  readonly loadOf: (agentId: string) => number;
  readonly heldBy: (agentId: string) => number;
}

/** A sub-task and who gets it. */
export interface Assigned {
  readonly subTaskId: string;
  readonly agentId: string;
}

interface Candidate {
  readonly card: SwarmCard;
  readonly registeredAt: number;
  load: number;
  /** Sub-tasks of this swarm that it may still take on. */
  room: number;
}

/**
 * Who gets which sub-task now: of the willing agents that have its capabilities, have not failed it and have room, the
 * least loaded.
 *
 * Sub-tasks that few can do come first, so that these few are not taken by others. Among equally loaded agents: who has
 * had the sub-task least often, then who can do the fewest of those that wait, then who registered first. The same
 * record and view always give the same answer.
 */
export function decideAssignments(record: SwarmRecord, view: TeamView): readonly Assigned[] {
  const { subTasks } = record.session;
  const ready = subTasks.filter((one) => isReady(one, subTasks));
  if (ready.length === 0) return [];
  const candidates = candidatesOf(record, view);
  const open = ready
    .map((subTask) => ({ subTask, able: candidates.filter((one) => mayTake(one, subTask)) }))
    .sort((one, other) => one.able.length - other.able.length);
  const breadth = new Map<Candidate, number>();
  for (const { able } of open) for (const one of able) breadth.set(one, (breadth.get(one) ?? 0) + 1);
  const assigned: Assigned[] = [];
  for (const { subTask, able } of open) {
    const best = able.filter(({ room }) => room > 0).sort(byPreference(subTask, breadth))[0];
    if (best === undefined) continue;
    best.load += 1;
    best.room -= 1;
    assigned.push({ subTaskId: subTask.id, agentId: best.card.id });
  }
  return assigned;
}

const candidatesOf = (record: SwarmRecord, { cards, loadOf, heldBy }: TeamView): Candidate[] =>
  cards.flatMap((card, registeredAt): Candidate[] => {
    if (memberIn(record, card.id)?.standing !== 'willing') return [];
    const room = record.limits.maxPerAgent - heldBy(card.id);
    return [{ card, registeredAt, load: loadOf(card.id), room }];
  });

const mayTake = ({ card }: Candidate, subTask: SwarmSubTask): boolean =>
  isCapable(card, subTask) && !hasFailed(subTask, card.id);

const byPreference =
  (subTask: SwarmSubTask, breadth: ReadonlyMap<Candidate, number>) =>
  (one: Candidate, other: Candidate): number =>
    one.load - other.load ||
    timesAssigned(subTask, one.card.id) - timesAssigned(subTask, other.card.id) ||
    (breadth.get(one) ?? 0) - (breadth.get(other) ?? 0) ||
    one.registeredAt - other.registeredAt;

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
 * Who failed.
 *
 * - `agentId`        whose assignment it was.
 * - `isSaid`         the agent itself says so: it was reached.
 * - `wasHandedAgain` the agent may have died with the coordinator that handed it over first, and of the same.
 */
interface Failed {
  readonly agentId: string;
  readonly isSaid?: boolean | undefined;
  readonly wasHandedAgain?: boolean | undefined;
}

/**
 * How an assignment that ended with this error ended, and whether its agent is gone from the swarm with it. What its handler
 * passes on of an agent that it asked itself says nothing of how it can be reached: its work failed.
 */
export function decideEnd(
  { code, details }: Pick<ErrorData, 'code' | 'details'>,
  { agentId, isSaid = false, wasHandedAgain = false }: Failed,
): { end: AssignmentEnd; isGone: boolean } {
  const subject = details?.['recipient'] ?? details?.['agentId'] ?? agentId;
  if (isSaid || subject !== agentId) return { end: 'failed', isGone: false };
  const isGone = GONE.has(code);
  const isLost = isGone || LOST.has(code) || (wasHandedAgain && code === 'ACTOR_DIED');
  return { end: isLost ? 'lost' : 'failed', isGone };
}
