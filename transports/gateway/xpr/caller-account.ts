import type { Principal } from '../../../runtime/protocol/principal.ts';
import type { TaskMessage } from '../../../runtime/protocol/task.ts';
import type { SendOrder } from '../a2a/operations.ts';
import type { XprSendOrder } from './xpr-params.ts';

/** Who sent a message, in its metadata: the account that has signed the request. */
const CALLER = 'xpr:callerAccount';
/** Who a sender that has proved nothing says that it is. */
const CLAIMED = 'xpr:claimedAccount';
const PREFIX = 'xpr:';

/**
 * The order, with who sent it in the metadata of its message. An account that was proved stands there whatever the request
 * says; one that is only claimed stands under another name, so that nobody takes it for proved. Neither can be
 * written from outside.
 */
export function withCaller({ claimedAccount, ...order }: XprSendOrder, principal: Principal): SendOrder {
  const account = principal.id.startsWith(PREFIX) ? principal.id.slice(PREFIX.length) : undefined;
  const claimed = principal.kind === 'anonymous' ? claimedAccount : undefined;
  const caller = {
    ...(account === undefined ? {} : { [CALLER]: account }),
    ...(claimed === undefined ? {} : { [CLAIMED]: claimed }),
  };
  const { message, metadata } = order;
  return {
    ...order,
    message: { ...message, metadata: { ...withoutOurs(message.metadata), ...caller } },
    ...(metadata === undefined ? {} : { metadata: withoutOurs(metadata) }),
  };
}

type Facts = NonNullable<TaskMessage['metadata']>;

function withoutOurs(facts: Facts = {}): Facts {
  const { [CALLER]: _caller, [CLAIMED]: _claimed, ...rest } = facts;
  return rest;
}
