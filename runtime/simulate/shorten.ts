import { Chance } from './chance.ts';

/** One thing that is done; what it is done with is JSON. */
export interface Command {
  readonly name: string;
  readonly input: unknown;
}

/** How long after its command something goes wrong at most; and where that is soon. */
export const MOST_AFTER_MS = 30;
const SOON_MS = 10;

/** What is done in one run, and under what seed. */
export interface Case {
  readonly seed: number;
  readonly commands: readonly Command[];
}

/**
 * Seeds that a shorter list is tried with: what is left out changes the course of everything after it, and the same fault
 * may show under another seed only, or a little sooner or later.
 */
const SEEDS = 24;

/**
 * Leaves out of a failing case as many commands as it can, first by halves, then one by one (after Zeller's delta
 * debugging). `attempt` says what is wrong with a case.
 */
export async function shorten(
  failing: Case,
  attempt: (one: Case) => Promise<{ readonly problems: readonly string[] }>,
): Promise<Case> {
  let shortest = failing;
  for (
    let size = Math.ceil(failing.commands.length / 2);
    size >= 1;
    size = size === 1 ? 0 : Math.ceil(size / 2)
  ) {
    for (let from = 0; from < shortest.commands.length; ) {
      const commands = shortest.commands.toSpliced(from, size);
      const shorter = await failingWith(shortest.seed, commands, attempt);
      if (shorter === undefined) from += size;
      else shortest = shorter;
    }
  }
  return shortest;
}

async function failingWith(
  seed: number,
  commands: readonly Command[],
  attempt: (one: Case) => Promise<{ readonly problems: readonly string[] }>,
): Promise<Case | undefined> {
  for (let at = 0; at < SEEDS; at++) {
    const one = { seed: seed + at, commands: at === 0 ? commands : retimed(commands, seed + at) };
    const { problems } = await attempt(one);
    if (problems.length > 0) return one;
  }
  return undefined;
}

/** The same commands, with what goes wrong going wrong at other times. */
function retimed(commands: readonly Command[], seed: number): readonly Command[] {
  const chance = new Chance(seed, 'times');
  return commands.map((command) => {
    const { name, input } = command;
    if (typeof input !== 'object' || input === null || !('afterMs' in input)) return command;
    const mostMs = chance.isTrue(0.5) ? SOON_MS : MOST_AFTER_MS;
    return { name, input: { ...input, afterMs: Math.floor(chance.between(0, mostMs)) } };
  });
}
