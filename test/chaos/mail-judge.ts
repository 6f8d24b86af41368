import { type Figures, note } from './figures.ts';
import { BOOKED, planOf, type Recipient, recipientsOf } from './mail-plan.ts';

/** A line of the books: who did what with which envelope, in which process. */
export interface Entry {
  readonly what: 'started' | 'finished' | 'declined';
  readonly who: Recipient;
  readonly n: number;
  readonly pid: number;
}

export interface Letter {
  readonly recipient: string;
  readonly code: string;
  readonly n?: number;
}

export interface MailPast {
  /** Numbers of which the generator was told that they are kept. */
  readonly acknowledged: readonly number[];
  /** In the order in which they were written. */
  readonly books: readonly Entry[];
  /** What the last process told of, when nothing was in flight any more. */
  readonly letters: readonly Letter[];
}

type Outcome = 'handled' | 'rejected' | 'expired' | 'deadLettered' | 'unknown' | 'gone';

/** What a dead letter may say. */
const CODES: Readonly<Record<Recipient, readonly string[]>> = {
  // Its process was killed over it, or its handler threw.
  'once-mail': ['ACTOR_DIED', 'HANDLER_FAILED'],
  'retry-mail': ['POISON'],
  relay: ['POISON'],
};

const keyOf = (who: string, n: number): string => `${who} ${n}`;

/** Counts what became of every envelope, and notes what should not be. */
export function judgeMail({ acknowledged, books, letters }: MailPast, figures: Figures): void {
  const entries = Map.groupBy(books, ({ who, n }) => keyOf(who, n));
  const told = new Set(letters.map(({ recipient, n = Number.NaN }) => keyOf(recipient, n)));
  judgeLetters(letters, figures);
  judgeOrder(books, figures);
  const due = new Set<string>();
  // What relay could not be given was passed on to nobody, or to some.
  for (const n of acknowledged)
    for (const who of recipientsOf(n))
      if (who === planOf(n).to || !told.has(keyOf('relay', n))) due.add(keyOf(who, n));
  for (const key of new Set([...due, ...entries.keys(), ...told])) {
    const [who, number] = key.split(' ') as [Recipient, string];
    const n = Number(number);
    const outcome = outcomeOf(n, entries.get(key) ?? [], told.has(key));
    figures.accepted += 1;
    figures[outcome] += 1;
    if (outcome === 'gone' || outcome === 'unknown')
      figures.broken.push(`${who} has ${outcome === 'gone' ? 'lost' : 'begun on, and not ended,'} ${n}`);
    judgeRepeats(who, n, entries.get(key) ?? [], figures);
  }
}

function outcomeOf(n: number, entries: readonly Entry[], isTold: boolean): Outcome {
  if (isTold) return 'deadLettered';
  if (entries.some(({ what }) => what === 'finished')) return 'handled';
  if (entries.some(({ what }) => what === 'declined')) return 'rejected';
  if (planOf(n).deed === 'brief') return 'expired';
  return entries.length > 0 ? 'unknown' : 'gone';
}

/**
 * Nobody who is delivered `once` begins twice. Who is delivered `retry` does not end twice in one process: nothing dies there
 * but what throws, and that does not end.
 */
function judgeRepeats(who: Recipient, n: number, entries: readonly Entry[], figures: Figures): void {
  const starts = entries.filter(({ what }) => what === 'started').length;
  if (starts > 1) note(figures, 'tried again', starts - 1);
  const ends = Map.groupBy(
    entries.filter(({ what }) => what !== 'started'),
    ({ pid }) => pid,
  );
  const mostEnds = Math.max(0, ...[...ends.values()].map((all) => all.length));
  if (mostEnds <= 1 && (who !== 'once-mail' || starts <= 1)) return;
  figures.appliedTwice += 1;
  figures.broken.push(
    `${who} has begun ${starts} times on ${n}, and ended it ${mostEnds} times in one process`,
  );
}

function judgeLetters(letters: readonly Letter[], figures: Figures): void {
  for (const { recipient, code, n } of letters) {
    if (n === undefined)
      figures.broken.push(`a dead letter of ${recipient}, ${code}, does not say which it is`);
    else if (!CODES[recipient as Recipient].includes(code))
      figures.broken.push(`${n} is dead-lettered ${code} by ${recipient}`);
  }
  const distinct = new Set(letters.map(({ recipient, n }) => `${recipient} ${n}`)).size;
  if (distinct !== letters.length)
    figures.broken.push(`${letters.length} dead letters tell of ${distinct} envelopes`);
}

/** Each recipient begins for the first time on what one sender sent in the order in which that sent it. */
function judgeOrder(books: readonly Entry[], figures: Figures): void {
  const firstStarts = (who: Recipient, by: 'host' | 'relay'): readonly number[] => [
    ...new Set(
      books
        .filter((entry) => entry.who === who && entry.what === 'started')
        .map(({ n }) => n)
        .filter((n) => (planOf(n).to === 'relay') === (by === 'relay')),
    ),
  ];
  const streams = [
    ['the host', 'relay', firstStarts('relay', 'relay')],
    ...BOOKED.map((who) => ['the host', who, firstStarts(who, 'host')] as const),
    ...BOOKED.map((who) => ['relay', who, firstStarts(who, 'relay')] as const),
  ] as const;
  for (const [sender, who, numbers] of streams)
    for (const [at, n] of numbers.entries())
      if (n < (numbers[at - 1] ?? -1))
        figures.broken.push(`${who} began on ${n} after ${numbers[at - 1]}, which ${sender} sent later`);
}
