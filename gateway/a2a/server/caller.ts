import type { Task } from '../../../runtime/protocol/task.ts';
import type { Principal } from '../../../runtime/protocol/principal.ts';
import type { TaskTerms } from '../../../runtime/protocol/task-service.ts';
import type { HeaderFields } from '../../http/answer.ts';
import type { EdgeCall } from '../../http/edge-call.ts';
import type { Exchange } from '../../http/exchange.ts';
import { EXTENSION_HEADERS } from '../wire/dialect.ts';
import type { CapabilityDescriptor } from '../../../runtime/protocol/agent-card.ts';
import type { ServedTeam } from '../../team/served-team.ts';
import type { SendOrder, ServedExtension } from '../wire/operations.ts';

/**
 * What a request is made by and under.
 *
 * - `baseUrl`    under which the caller reaches the gateway, without a slash at its end.
 * - `dialect`    the version of A2A that it speaks. @default the newest
 * - `agentId`    undefined means the system as a whole.
 * - `extensions` the URIs of those that it activates.
 * - `sender`     what its binding tells agents about it, in the metadata of its messages. @default nothing
 * - `signal`     aborts when the caller has gone, or the gateway is to end.
 */
export interface Caller {
  readonly principal: Principal;
  readonly baseUrl: string;
  readonly dialect?: string;
  readonly agentId: string | undefined;
  readonly terms: Partial<TaskTerms>;
  readonly extensions: readonly string[];
  readonly sender?: SenderFacts;
  readonly signal: AbortSignal;
}

/** What a caller says for itself. `sender`, `terms` as a caller's. @default none */
export interface CallerFacts extends Pick<Caller, 'agentId' | 'extensions' | 'sender'> {
  readonly dialect?: string;
  readonly terms?: Partial<TaskTerms>;
}

const NO_TERMS: Partial<TaskTerms> = {};

/**
 * Who makes a request that has been let in. A class, because an object that is made with an accessor of its own gets a shape of
 * its own, which outlives it.
 */
export class ExchangeCaller implements Caller {
  readonly principal: Principal;
  readonly baseUrl: string;
  readonly dialect?: string;
  readonly agentId: string | undefined;
  readonly terms: Partial<TaskTerms>;
  readonly extensions: readonly string[];
  readonly sender?: SenderFacts;
  readonly #exchange: Exchange;

  constructor(exchange: Exchange, { agentId, dialect, extensions, sender, terms = NO_TERMS }: CallerFacts) {
    this.#exchange = exchange;
    this.principal = exchange.principal;
    this.baseUrl = exchange.baseUrl;
    if (dialect !== undefined) this.dialect = dialect;
    this.agentId = agentId;
    this.terms = terms;
    this.extensions = extensions;
    if (sender !== undefined) this.sender = sender;
  }

  /** Made when it is first read: most requests are over before. */
  get signal(): AbortSignal {
    return this.#exchange.signal;
  }
}

/** The extensions that a request activates. `echoed`: headers of its answer that say so, by names in lower case. */
export interface Activated {
  readonly active: readonly string[];
  readonly echoed: Readonly<HeaderFields>;
}

export const NOTHING_ACTIVATED: Activated = { active: [], echoed: {} };

/** The served extensions that a request's headers activate. */
export function activatedBy(
  { headers }: Pick<EdgeCall, 'headers'>,
  extensions: readonly A2AExtension[],
): Activated {
  const header = EXTENSION_HEADERS.find((name) => headers.has(name));
  if (header === undefined) return NOTHING_ACTIVATED;
  const active = activeOf(extensions, headers.get(header) ?? '');
  return active.length === 0
    ? NOTHING_ACTIVATED
    : { active, echoed: { [header.toLowerCase()]: active.join(', ') } };
}

/** Of these extensions, those whose URIs stand in the text of a header. */
export function activeOf(extensions: readonly A2AExtension[], header: string): readonly string[] {
  const activated = header.split(',').map((uri) => uri.trim());
  return extensions.filter(({ uri }) => activated.includes(uri)).map(({ uri }) => uri);
}

/** On which card an extension stands: what is offered there, where, and with whom. */
interface ExtendedCard {
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

/** Names in metadata by which a binding tells agents who has sent a message. */
const NAMES = ['xpr:callerAccount', 'xpr:claimedAccount'] as const;

/** What a binding knows of the sender of a message. */
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
