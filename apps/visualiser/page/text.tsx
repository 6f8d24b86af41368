import type { JSX } from 'preact';
import { shownText } from '../model/shown-text.ts';
import { usePage } from './page-context.ts';

/** Text from outside: what could not be seen stands there visibly, and it has an end. */
export function Text({ of, max = 200 }: { readonly of: string; readonly max?: number }): JSX.Element {
  const shown = shownText(of, max);
  return <bdi title={of.length > max ? shownText(of, 2_000) : undefined}>{shown}</bdi>;
}

/** A word of the glossary with its meaning. */
export function Term({
  word,
  children,
}: {
  readonly word: keyof typeof MEANINGS;
  readonly children?: string;
}): JSX.Element {
  return (
    <abbr class="term" title={MEANINGS[word]}>
      {children ?? word}
    </abbr>
  );
}

const MEANINGS = {
  agent: 'What a card names: it does work that others ask for',
  mailbox: 'What waits for an agent; it has a bound',
  credit: 'How much more the mailbox takes',
  restarts:
    'How often its supervisor has started it again, of how many times within that time it would before giving up',
  tier: 'How far an agent is trusted with others, from 0, the most, to 3',
  envelope: 'A message between agents',
  'dead letter': 'An envelope that nobody can have, kept to be looked at',
  conversation: 'All envelopes that one has caused',
  proposal: 'An offer of a task to one agent or several',
  bids: 'How many agents have said that they would take it',
  lease: 'For how long somebody has a task without a sign of life',
  epoch: 'The number of the assignment: an older one counts no more',
  swarm: 'A task for several agents, in parts',
  'sub-task': 'A part of a swarm’s task',
  mission: 'What the loop works through, task by task',
  gate: 'Who judges the result of a task',
  taint: 'The sources outside from which something came',
  place: 'Where agents run: a thread or a process',
  budget: 'What may be spent: tokens of models, and dollars',
  guard: 'A condition of a transition; it did not hold, so the transition was not taken',
  'in flight': 'Sent, and without an outcome yet',
  rejected: 'The agent said that it does not do this',
  expired: 'Its deadline passed before it was done',
  refused: 'A rule did not let it through',
} as const;

/** An agent's name as a link to it. */
export function AgentLink({ id, name = id }: { readonly id: string; readonly name?: string }): JSX.Element {
  const { state } = usePage();
  return (
    <a href={state.link({ view: 'agent', id })}>
      <Text of={name} max={40} />
    </a>
  );
}

/** A conversation's name as a link to it. */
export function ConversationLink({
  id,
  max = 48,
}: {
  readonly id: string;
  readonly max?: number;
}): JSX.Element {
  const { state } = usePage();
  return (
    <a href={state.link({ view: 'conversation', id })}>
      <Text of={id} max={max} />
    </a>
  );
}
