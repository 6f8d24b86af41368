import type { AgentTier } from '../runtime/protocol/agent-card.ts';

/** Who takes part in a measurement: an id and a tier. */
export interface Member {
  readonly id: string;
  readonly tier: AgentTier;
}

/** Whom a message is for, and why when a lower tier writes to a higher one. */
export interface Addressee {
  readonly recipient: string;
  readonly justification?: string;
}

/**
 * Who receives.
 *
 * - `tiers`   three receivers in the tiers 2, 1 and 3; each sender has one of them. The pairs are L0 to L2, L2 to L1
 *             (which needs a justification) and L3 to L3.
 * - a number  so many receivers in tier 2, which every sender may reach; each sender goes round all of them.
 */
export type Layout = 'tiers' | number;

const SENDER_TIERS: readonly AgentTier[] = [0, 2, 3];
const RECEIVER_TIERS: readonly AgentTier[] = [2, 1, 3];
const JUSTIFICATION = 'the finding needs a strategic decision';

/** The 21 senders, seven in each of three tiers. */
export const SENDERS: readonly Member[] = Array.from({ length: 21 }, (_, index) => ({
  id: `sender-${index + 1}`,
  tier: SENDER_TIERS[index % SENDER_TIERS.length] ?? 0,
}));

export function receiversOf(layout: Layout): readonly Member[] {
  const count = layout === 'tiers' ? RECEIVER_TIERS.length : layout;
  return Array.from({ length: count }, (_, index) => ({
    id: `receiver-${index + 1}`,
    tier: layout === 'tiers' ? (RECEIVER_TIERS[index] ?? 2) : 2,
  }));
}

/** Addressee of the `turn`-th message of the sender at `senderIndex`; a layout's addressees are made once. */
export function addresseesOf(layout: Layout): (senderIndex: number, turn: number) => Addressee {
  const addressees: readonly Addressee[] = receiversOf(layout).map(({ id, tier }) => {
    return tier === 1 ? { recipient: id, justification: JUSTIFICATION } : { recipient: id };
  });
  const [first] = addressees;
  if (first === undefined) throw new RangeError(`A layout needs a receiver, got ${layout}`);
  return layout === 'tiers'
    ? (senderIndex) => addressees[senderIndex % addressees.length] ?? first
    : (senderIndex, turn) => addressees[(senderIndex + turn) % addressees.length] ?? first;
}
