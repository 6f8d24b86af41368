import type { A2AEnvelope } from '../protocol/envelope.ts';

/** Deeper than any delegation path: whatever answers stands behind whatever asks. */
const DEEPEST = 1_000;

/**
 * The envelopes of one conversation in timestamp order; of one millisecond, where threads cannot say, in the order in
 * which they cause each other: who was asked asks, and the last who was asked answers first.
 */
export function sortConversation(envelopes: readonly A2AEnvelope[]): A2AEnvelope[] {
  const depths = new Map(envelopes.map(({ id, metadata }) => [id, metadata?.path?.length ?? 0]));
  const rank = ({ id, metadata }: A2AEnvelope): number => {
    const asked = metadata?.inReplyTo === undefined ? undefined : depths.get(metadata.inReplyTo);
    return asked === undefined ? (depths.get(id) ?? 0) : DEEPEST - asked;
  };
  return [...envelopes].sort((one, other) => one.timestamp - other.timestamp || rank(one) - rank(other));
}
