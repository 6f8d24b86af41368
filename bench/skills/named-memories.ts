import { chanceOf } from './random-memories.ts';

const SEED = 4_711;
/** Of each family, how many memories there are, and how many of them are asked for. */
const MEMORIES = 36;
const ASKED = 12;

/** As in `LabelledSet`. */
interface Named {
  readonly memories: readonly { readonly id: string; readonly text: string }[];
  readonly queries: readonly {
    readonly kind: 'identifier';
    readonly text: string;
    readonly relevant: Readonly<Record<string, 3>>;
  }[];
}

type Draw = <Value>(values: readonly Value[]) => Value;

/** Memories that hardly differ but by what they name. `text` and `question` get the name. */
interface Family {
  readonly id: string;
  readonly name: (draw: Draw) => string;
  readonly text: (name: string, draw: Draw) => string;
  readonly questions: readonly ((name: string) => string)[];
}

const HEX = '0123456789abcdef';
const PEOPLE = ['Dana', 'Oskar', 'Farah', 'Ben', 'Ines', 'Tomasz'] as const;
const THINGS = ['pallet', 'depot', 'carrier', 'label', 'pickup', 'route', 'manifest', 'customs'] as const;
const PARTS = ['parser', 'router', 'worker', 'client', 'schema', 'report', 'planner', 'filter'] as const;

const FAMILIES: readonly Family[] = [
  {
    id: 'order',
    name: (draw) => digits(draw, 5),
    text: (name, draw) =>
      `Order ${name} ${draw(['arrived two days late', 'was sent back', 'arrived with a broken pallet', 'was cancelled by the customer'])}, and ${draw(PEOPLE)} ${draw(['wrote an apology', 'gave a refund', 'spoke to the carrier'])}.`,
    questions: [
      (name) => `What happened to order ${name}?`,
      (name) => `did anybody answer the complaint about ${name}`,
      (name) => `Is there anything to know about the order with the number ${name}?`,
    ],
  },
  {
    id: 'version',
    name: (draw) => `${draw([1, 2, 3, 4])}.${number(draw, 30)}.${number(draw, 12)}`,
    text: (name, draw) =>
      `Version ${name} of the ${draw(['booking API', 'scanner software', 'driver app'])} ${draw(['was rolled back after an hour', 'went out without trouble', 'needs a migration of the database', 'doubled the memory of the workers'])}.`,
    questions: [
      (name) => `How did the release of ${name} go?`,
      (name) => `can we install version ${name}`,
      (name) => `What should I look out for in ${name}?`,
    ],
  },
  {
    id: 'ticket',
    name: (draw) => `${draw(['OPS', 'BIL', 'APP'])}-${number(draw, 900) + 100}`,
    text: (name, draw) =>
      `${name} is about ${draw(['slow searches', 'labels that are printed twice', 'a wrong total on invoices', 'mails that nobody gets'])}; ${draw(PEOPLE)} ${draw(['works on it', 'waits for the customer', 'closed it as a duplicate'])}.`,
    questions: [
      (name) => `Who looks after ${name}?`,
      (name) => `state of ${name}`,
      (name) => `Which problem was reported in the ticket ${name}?`,
    ],
  },
  {
    id: 'commit',
    name: (draw) => Array.from({ length: 7 }, () => draw([...HEX])).join(''),
    text: (name, draw) =>
      `Commit ${name} by ${draw(PEOPLE)} ${draw(['removed', 'brought back', 'rewrote', 'renamed'])} the ${draw(THINGS)} ${draw(PARTS)}.`,
    questions: [
      (name) => `What did commit ${name} change?`,
      (name) => `who wrote ${name}`,
      (name) => `Why does the history of the repository have ${name}?`,
    ],
  },
  {
    id: 'file',
    name: (draw) => `${draw(THINGS)}-${draw(PARTS)}.${draw(['ts', 'sql', 'yaml'])}`,
    text: (name, draw) =>
      `The file ${name} ${draw(['is generated, nobody edits it by hand', 'may be changed only together with its tests', 'is to be deleted in the next quarter', 'is owned by two teams'])}.`,
    questions: [
      (name) => `May I edit ${name}?`,
      (name) => `what do I have to know before I touch ${name}`,
      (name) => `Do we still need the file ${name}?`,
    ],
  },
];

/** Memories of orders, versions, tickets, commits and files, and questions that name one of them: the same each time. */
export function namedMemories(): Named {
  const chance = chanceOf(SEED);
  const draw: Draw = (values) => values[Math.floor(chance() * values.length)] as (typeof values)[number];
  const families = FAMILIES.map(({ id, name, text, questions }) => {
    const names = new Set<string>();
    while (names.size < MEMORIES) names.add(name(draw));
    const named = [...names];
    return {
      memories: named.map((one, at) => ({ id: `${id}-named-${at + 1}`, text: text(one, draw) })),
      queries: named.slice(0, ASKED).map((one, at) => ({
        kind: 'identifier' as const,
        text: (questions[at % questions.length] as (name: string) => string)(one),
        relevant: { [`${id}-named-${at + 1}`]: 3 as const },
      })),
    };
  });
  return {
    memories: families.flatMap(({ memories }) => memories),
    queries: families.flatMap(({ queries }) => queries),
  };
}

const number = (draw: Draw, below: number): number => draw(Array.from({ length: below }, (_, at) => at));

/** A number of so many digits. */
const digits = (draw: Draw, count: number): string =>
  String(10 ** (count - 1) + number(draw, 9 * 10 ** (count - 1)));
