import type { TaskProposal } from 'orrery';
import { z } from 'zod';
import { type Assignment, Bid, type Candidate, loadOf, MAX_BIDS } from '../agents/capabilities.ts';
import { firstLine } from './first-line.ts';
import type { Team } from './team.ts';

/**
 * What an agent has answered when a task was proposed to it.
 *
 * - `reason` code of one that declined.
 * - `named`  the agent that it named instead of itself.
 */
export const Answered = z.strictObject({
  agent: z.string(),
  said: z.enum(['accepted', 'declined', 'timed-out']),
  reason: z.string().optional(),
  named: z.string().optional(),
});
export type Answered = z.infer<typeof Answered>;

/**
 * How an agent was chosen for a task. Texts are cut.
 *
 * - `attempt` that it was to make, from 1.
 * - `agent`   that the assigner has chosen.
 * - `bids`    agents that were compared, the chosen one first, as far as the assigner says it or the loop knows it.
 * - `reason`  the assigner's, in a sentence.
 * - `answers` of agents that it was proposed to, in the order of asking.
 */
export const Choice = z.strictObject({
  attempt: z.int().positive(),
  agent: z.string(),
  bids: z.array(Bid).readonly(),
  reason: z.string().optional(),
  answers: z.array(Answered).readonly(),
});
export type Choice = z.infer<typeof Choice>;

/** What a negotiator has of a proposal. */
type ProposalRecord = NonNullable<ReturnType<Team['loop']['negotiator']['getRecord']>>;

/** A choice before anybody was asked. */
export type Chosen = Omit<Choice, 'attempt' | 'answers'>;

/** The most choices of a task that are kept, the latest. */
const MAX_CHOICES = 8;
const MAX_ANSWERS = 8;
const MAX_TEXT = 200;

/** Whether more than one agent could have had the task, or one that could have did not. */
export const wasChosen = ({ bids, answers }: Choice): boolean =>
  bids.length > 1 ||
  bids.some(({ out }) => out !== undefined) ||
  answers.some(({ said }) => said !== 'accepted');

/** The last choice, if there was one to make. */
export const lastChoice = (choices: readonly Choice[]): Choice | undefined =>
  choices.slice(-1).find(wasChosen);

/** The choices with one more. Where there was none to make, it is not kept longer than it takes. */
export const withChoice = (choices: readonly Choice[], choice: Choice): readonly Choice[] =>
  [...choices.filter(wasChosen), choice].slice(-MAX_CHOICES);

/** The choices, the last of them answered. */
export function withAnswers(
  choices: readonly Choice[],
  answers: readonly Answered[] = [],
): readonly Choice[] {
  const last = choices.at(-1);
  return last === undefined
    ? []
    : [...choices.slice(0, -1), { ...last, answers: [...last.answers, ...answers].slice(0, MAX_ANSWERS) }];
}

/**
 * What an assigner says of its choice, as far as it is about agents that could do the task.
 *
 * - `able` they are.
 * - `out`  why those were not to be had of which the loop knows it. It knows that better than the assigner.
 */
export function chosenOf(
  { agent, bids = [], reason }: Assignment['assignments'][number],
  {
    able,
    out,
  }: {
    readonly able: readonly Pick<Candidate, 'id' | 'waiting' | 'inHand'>[];
    readonly out: ReadonlyMap<string, string>;
  },
): Chosen {
  const said = new Map(bids.map((bid) => [bid.agent, bid]));
  const known = new Map(able.map((one) => [one.id, loadOf(one)]));
  const all = [...new Set([agent, ...said.keys(), ...out.keys()])].flatMap((id): Bid[] => {
    const load = said.get(id)?.load ?? known.get(id);
    const why = out.get(id) ?? said.get(id)?.out;
    if (!known.has(id) || load === undefined || !(said.has(id) || out.has(id))) return [];
    return [{ agent: id, load, ...(why === undefined ? {} : { out: inShort(why) }) }];
  });
  return {
    agent,
    bids: all.slice(0, MAX_BIDS),
    ...(reason === undefined ? {} : { reason: inShort(reason) }),
  };
}

/**
 * What agents have answered to a proposal to `asked`, in the order of asking.
 *
 * `record` is what the negotiator has of it; without it only the outcome is known.
 */
export function answersTo(
  asked: string,
  { status, acceptedBy, rejectionReason }: TaskProposal,
  record: Pick<ProposalRecord, 'asked' | 'answers'> | undefined,
): readonly Answered[] {
  const timedOut = status === 'timed-out';
  const told = (record?.asked ?? []).flatMap((agent): Answered[] => {
    if (status === 'accepted' && agent === acceptedBy) return [{ agent, said: 'accepted' }];
    const last = record?.answers.findLast((one) => one.agentId === agent && one.effect === 'counted');
    if (last?.type === 'task-reject') return [declinedBy(agent, last)];
    return timedOut ? [{ agent, said: 'timed-out' }] : [];
  });
  const by = status === 'accepted' ? acceptedBy : undefined;
  const missing = [asked, ...(by === undefined ? [] : [by])].filter(
    (agent, at, all) => all.indexOf(agent) === at && !told.some((one) => one.agent === agent),
  );
  const others = missing.map((agent): Answered => {
    if (agent === by) return { agent, said: 'accepted' };
    return timedOut ? { agent, said: 'timed-out' } : declinedBy(agent, { reason: rejectionReason });
  });
  return [...others, ...told].slice(0, MAX_ANSWERS);
}

/** The answer of an agent that does not take a task on. */
export const declinedBy = (
  agent: string,
  { reason, alternative }: { readonly reason?: string | undefined; readonly alternative?: string },
): Answered => ({
  agent,
  said: 'declined',
  ...(reason === undefined ? {} : { reason: inShort(reason) }),
  ...(alternative === undefined ? {} : { named: inShort(alternative) }),
});

/** The first line, cut: agents say what they like. */
const inShort = (text: string): string => firstLine(text).slice(0, MAX_TEXT);
