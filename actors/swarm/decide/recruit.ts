import { memberIn, type SwarmRecord } from '../swarm-record.ts';
import type { SwarmSubTask } from '../swarm-session.ts';
import { hasFailed, isCapable, type SwarmCard } from './capable.ts';

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
