import type { Task } from '../../../runtime/protocol/task.ts';
import type { SendOrder } from '../wire/operations.ts';

/** Names in metadata by which a binding tells agents who has sent a message. */
const NAMES = ['xpr:callerAccount', 'xpr:claimedAccount'] as const;

/** What a binding has found out about the sender of a message. */
export type SenderFacts = { readonly [Name in (typeof NAMES)[number]]?: string };

type Facts = Task['metadata'];

/**
 * The order, with what its binding knows of the sender in the metadata of the message. What the request itself says under
 * these names is left out, whichever binding it came by: agents believe them.
 */
export function withSenderFacts(order: SendOrder, known: SenderFacts = {}): SendOrder {
  const { message, metadata } = order;
  const isTold = Object.keys(known).length > 0;
  if (!isTold && !claims(message.metadata) && !claims(metadata)) return order;
  return {
    ...order,
    message: { ...message, metadata: { ...withoutClaims(message.metadata), ...known } },
    ...(metadata === undefined ? {} : { metadata: withoutClaims(metadata) }),
  };
}

const claims = (facts: Facts): boolean =>
  facts !== undefined && NAMES.some((name) => Object.hasOwn(facts, name));

function withoutClaims(facts: Facts = {}): NonNullable<Facts> {
  const isKept = ([name]: [string, unknown]): boolean => !(NAMES as readonly string[]).includes(name);
  return Object.fromEntries(Object.entries(facts).filter(isKept));
}
