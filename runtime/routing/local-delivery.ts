import { type A2AEnvelope, BROADCAST } from '../protocol/envelope.ts';
import { errorToData, invalidOptions, reasonOf } from '../protocol/errors.ts';
import { isSystemId } from '../protocol/policy.ts';
import type { Mail } from '../mailbox/mail.ts';
import type { MailJudge } from './mail-judge.ts';
import type { RoutingTable } from './routing-table.ts';
import type { AgentRow } from '../protocol/agent-row.ts';
import { addSystemActor, removeSystemActor } from './system-profile.ts';

/** What is called with each envelope for one agent. */
export type ReceiveHandler = (envelope: A2AEnvelope) => unknown;

/** Called when the promise of a handler rejected; its envelope counts as delivered. */
type ReceiverFailed = (agentId: string, mail: Mail, reason: string) => void;

/** One envelope, as it is judged and as its recipients get it. */
export interface Judged {
  readonly mail: Mail;
  readonly envelope: A2AEnvelope;
}

/** The handlers of a standalone router, by agent. */
class Receivers {
  readonly #handlers = new Map<string, Set<{ readonly handle: ReceiveHandler }>>();
  readonly #onRejection: ReceiverFailed;

  constructor(onRejection: ReceiverFailed) {
    this.#onRejection = onRejection;
  }

  has(agentId: string): boolean {
    return this.#handlers.has(agentId);
  }

  /** Adds a handler; the returned function removes this one. */
  add(agentId: string, handle: ReceiveHandler): () => void {
    const entry = { handle };
    const handlers = this.#handlers.get(agentId) ?? new Set();
    handlers.add(entry);
    this.#handlers.set(agentId, handlers);
    return () => {
      handlers.delete(entry);
      if (handlers.size === 0 && this.#handlers.get(agentId) === handlers) this.#handlers.delete(agentId);
    };
  }

  /** Calls every handler of the agent, even if one throws. Returns a reason if one threw, or if there is none. */
  deliver(agentId: string, judged: Judged): string | undefined {
    const handlers = this.#handlers.get(agentId);
    if (handlers === undefined) return `${agentId} is registered, but nobody receives for it`;
    let failure: string | undefined;
    for (const { handle } of [...handlers]) {
      const reason = this.#call(handle, agentId, judged);
      failure ??= reason;
    }
    return failure;
  }

  #call(handle: ReceiveHandler, agentId: string, { mail, envelope }: Judged): string | undefined {
    try {
      const returned = handle(envelope);
      if (returned instanceof Promise) {
        returned.catch((error: unknown) => this.#onRejection(agentId, mail, failureOf(agentId, error)));
      }
      return undefined;
    } catch (error) {
      return failureOf(agentId, error);
    }
  }
}

const failureOf = (agentId: string, error: unknown): string =>
  `The receiver of ${agentId} failed: ${reasonOf(error)}`;

export interface LocalDeliveryDeps {
  readonly table: RoutingTable;
  readonly judge: Pick<MailJudge, 'holdGrant' | 'useGrant' | 'endGrant'>;
  /** Takes an envelope to a remote agent that has no handler here; rejects when it could not. */
  readonly carryRemote: ((envelope: A2AEnvelope, agentId: string) => Promise<void>) | undefined;
  readonly onReceiverFailed: ReceiverFailed;
}

/** The last step of a standalone router: the recipient's handlers, and who may answer what they got. */
export class LocalDelivery {
  readonly #deps: LocalDeliveryDeps;
  readonly #receivers: Receivers;

  constructor(deps: LocalDeliveryDeps) {
    this.#deps = deps;
    this.#receivers = new Receivers(deps.onReceiverFailed);
  }

  /** Adds a handler; a system actor can be addressed for as long as it has one. */
  onReceive(agentId: string, handler: ReceiveHandler): () => void {
    if (agentId === BROADCAST) throw invalidOptions('onReceive.agentId', agentId, 'the id of one agent');
    const { table } = this.#deps;
    const stop = this.#receivers.add(agentId, handler);
    if (!isSystemId(agentId)) return stop;
    addSystemActor(table, agentId);
    return () => {
      stop();
      if (!this.#receivers.has(agentId)) removeSystemActor(table, agentId);
    };
  }

  /** Whether a handler, or `carryRemote`, takes what is for this agent. */
  reaches({ id, profile }: AgentRow): boolean {
    const isCarried = this.#deps.carryRemote !== undefined && profile.card.origin === 'remote';
    return isCarried || this.#receivers.has(id);
  }

  /** Hands the envelope over; returns the reason if it was not taken. The grant is made first: an answer may come at once. */
  deliver(row: AgentRow, judged: Judged): string | undefined | Promise<string | undefined> {
    const { judge, carryRemote } = this.#deps;
    const { mail } = judged;
    judge.holdGrant(mail, row.id);
    if (carryRemote === undefined || row.profile.card.origin === 'local' || this.#receivers.has(row.id)) {
      return this.#settle(row, mail, this.#receivers.deliver(row.id, judged));
    }
    return carryRemote(judged.envelope, row.id).then(
      () => this.#settle(row, mail, undefined),
      (error: unknown) => this.#settle(row, mail, errorToData(error).message),
    );
  }

  #settle({ id }: AgentRow, mail: Mail, failure: string | undefined): string | undefined {
    const { judge } = this.#deps;
    if (failure === undefined) judge.useGrant(mail, mail.sender, id);
    else judge.endGrant(mail.id, id, mail.sender);
    return failure;
  }
}
