import { z } from 'zod';
import { seededRandom } from '../fixtures/seeded-random.ts';

/** Who gets mail: two that write it down, and one that passes it on to both. */
export const RECIPIENTS = ['once-mail', 'retry-mail', 'relay'] as const;
export const Recipient = z.enum(RECIPIENTS);
export type Recipient = z.infer<typeof Recipient>;

export const BOOKED = ['once-mail', 'retry-mail'] as const satisfies readonly Recipient[];

/** What a handler does with an envelope; one that is `brief` has a deadline that it may miss. */
export const Deed = z.enum(['handle', 'decline', 'throw', 'brief']);
export type Deed = z.infer<typeof Deed>;

/** An envelope of the generator: to whom it goes first, what is done with it, and how long that takes, milliseconds. */
export interface Plan {
  readonly to: Recipient;
  readonly deed: Deed;
  readonly ms: number;
  /** Until its deadline, of one that is brief. */
  readonly lastsMs: number;
}

const SPREAD = 7_919;

/** What the envelope with this number is: the same whoever asks. */
export function planOf(n: number): Plan {
  const random = seededRandom(n * SPREAD);
  const to = RECIPIENTS[Math.floor(random() * RECIPIENTS.length)] ?? 'relay';
  const chance = random();
  const isSlow = random() < 0.15;
  return {
    to,
    deed: deedOf(to, chance),
    ms: isSlow ? 1 + Math.floor(random() * 4) : 0,
    lastsMs: Math.floor(random() * 30),
  };
}

/** What relay gets has no deadline, because what it passes on would have it too. */
function deedOf(to: Recipient, chance: number): Deed {
  if (chance < 0.05) return 'decline';
  if (chance < 0.06) return 'throw';
  return chance < 0.12 && to !== 'relay' ? 'brief' : 'handle';
}

/** Everybody who has to come to an outcome for it, once `relay` has handled its part. */
export const recipientsOf = (n: number): readonly Recipient[] => {
  const { to } = planOf(n);
  return to === 'relay' ? RECIPIENTS : [to];
};
