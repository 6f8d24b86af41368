import type { TaskTerms } from '../../../runtime/protocol/task-service.ts';
import type { CapabilityDescriptor } from '../../../runtime/protocol/agent-card.ts';
import type { ServedTeam } from '../../team/served-team.ts';
import type { SendOrder, ServedExtension } from '../wire/operations.ts';

/** On which card an extension stands: what is offered there, where, and with whom. */
export interface ExtendedCard {
  readonly capabilities: readonly CapabilityDescriptor[];
  readonly baseUrl: string;
  readonly team: ServedTeam;
}

/**
 * An extension of A2A that a gateway serves: it stands on the cards, and a caller activates it by its URI in the header
 * `A2A-Extensions`.
 *
 * - `required` who does not activate it is refused.
 * - `paramsFor` its params on one card. @default `params`, on all of them
 * - `needsTasks` what it promises only tasks have: messages of whoever has activated it are never answered without one.
 * - `terms`    what a message says about the terms of its work, when its caller has activated the extension. Throws
 *              INVALID_PAYLOAD naming field and value.
 */
export interface A2AExtension extends ServedExtension {
  paramsFor?(card: ExtendedCard): Readonly<Record<string, unknown>>;
  readonly needsTasks?: boolean;
  terms?(order: SendOrder): Partial<TaskTerms>;
}
