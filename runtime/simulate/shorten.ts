import { Chance } from './chance.ts';

/** A command of a run. `input` is JSON. */
export interface Command {
  readonly name: string;
  readonly input: unknown;
}

/** The longest delay of a fault after its command, virtual milliseconds. */
export const MOST_AFTER_MS = 30;
/** The longest such delay of half of the faults, when a list is tried with another seed. */
const SOON_MS = 10;

/** The seed and commands of one run. */
export interface Case {
  readonly seed: number;
  readonly commands: readonly Command[];
}

/**
 * Seeds that a shorter list is tried with. Leaving a command out changes everything after it, so a failure may need another
 * seed, or faults at other times.
 */
const SEEDS = 24;

/**
 * Removes as many commands as possible from a failing case, first halves, then single ones (after Zeller's delta debugging).
 * `attempt` resolves to the problems of a case.
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

/** The same commands, with faults at other times. */
function retimed(commands: readonly Command[], seed: number): readonly Command[] {
  const chance = new Chance(seed, 'times');
  return commands.map((command) => {
    const { name, input } = command;
    if (typeof input !== 'object' || input === null || !('afterMs' in input)) return command;
    const mostMs = chance.isTrue(0.5) ? SOON_MS : MOST_AFTER_MS;
    return { name, input: { ...input, afterMs: Math.floor(chance.between(0, mostMs)) } };
  });
}
