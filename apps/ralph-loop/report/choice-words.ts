import type { Bid } from '../agents/capabilities.ts';
import type { Answered, Choice } from '../loop/choice.ts';
import { printable } from './printable.ts';

/** The most agents of each kind that a line names. */
const MAX_NAMED = 4;

/** Says in a line who has a task, among whom and why that one was chosen, and who did not take it on. */
export function choiceWords({ agent, bids, reason, answers }: Choice): string {
  const taker = answers.find(({ said }) => said === 'accepted')?.agent;
  const compared = comparedWords(
    bids.filter(({ out }) => out === undefined),
    agent,
  );
  const others = [
    ...named(
      bids.filter(({ out }) => out !== undefined),
      outWords,
    ),
    ...named(
      answers.filter(({ said }) => said !== 'accepted'),
      answerWords,
    ),
  ];
  const asked = answers.length > 0 ? `${agent} was asked` : `${agent} is asked`;
  return printable([headWords({ agent, reason, compared, taker, asked }), ...others].join('; '));
}

/** The assigner's reason and what it has compared are about the agent that it has chosen. */
function headWords({
  agent,
  reason,
  compared,
  taker,
  asked,
}: Pick<Choice, 'agent' | 'reason'> & {
  readonly compared: string | undefined;
  readonly taker: string | undefined;
  readonly asked: string;
}): string {
  if (taker !== undefined && taker !== agent)
    return `${taker} has it instead of ${agent}${compared === undefined ? '' : ` (${compared})`}`;
  const head = taker === undefined ? asked : `${agent} has it`;
  const because = reason !== undefined && compared !== undefined ? `${reason} (${compared})` : reason;
  return [head, because ?? compared ?? []].flat().join(': ');
}

/** What each bid and each answer says, one by one. */
export const bidWords = ({ agent, load, out }: Bid): string =>
  printable(out === undefined ? `${agent}: ${load} to do` : `${agent}: ${load} to do, ${out}`);

export function answerWords({ agent, said, reason, named: other }: Answered): string {
  if (said === 'accepted') return printable(`${agent} took it on`);
  if (said === 'timed-out') return printable(`${agent} did not answer in time`);
  const why = reason === undefined ? '' : `: ${reason}`;
  return printable(`${agent} declined${why}${other === undefined ? '' : `, and named ${other}`}`);
}

/** How much the chosen one had to do, and the others; nothing of one alone. */
function comparedWords(open: readonly Bid[], chosen: string): string | undefined {
  const own = open.find(({ agent }) => agent === chosen);
  const others = open.filter(({ agent }) => agent !== chosen);
  if (own === undefined || others.length === 0) return undefined;
  return [`${own.load} to do`, ...named(others, ({ agent, load }) => `${agent} ${load}`)].join(', ');
}

const outWords = ({ agent, out }: Bid): string => `${agent} ${out}`;

function named<Each>(all: readonly Each[], words: (each: Each) => string): string[] {
  const more = all.length - MAX_NAMED;
  return [...all.slice(0, MAX_NAMED).map(words), ...(more > 0 ? [`${more} more`] : [])];
}
