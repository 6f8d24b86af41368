import { type A2AEnvelope, BROADCAST } from '../protocol/envelope.ts';
import { errorToData, invalidOptions } from '../protocol/errors.ts';
import { isSystemId } from '../protocol/policy.ts';
import type { GrantBook } from './grants.ts';
import { type ReceiveHandler, Receivers, type ReceiverFailed } from './receivers.ts';
import type { RoutingTable } from './routing-table.ts';
import type { AgentRow } from '../protocol/agent-row.ts';
import { addSystemActor, removeSystemActor } from './system-profile.ts';

export interface LocalDeliveryDeps {
  readonly table: RoutingTable;
  readonly grants: GrantBook;
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

  /** Whether somebody takes what is for this agent. */
  reaches({ id, profile }: AgentRow): boolean {
    const isCarried = this.#deps.carryRemote !== undefined && profile.card.origin === 'remote';
    return isCarried || this.#receivers.has(id);
  }

  /** Hands the envelope over; the reason when it was not taken. The grant comes first: the answer may come at once. */
  deliver(row: AgentRow, envelope: A2AEnvelope): string | undefined | Promise<string | undefined> {
    const { grants, carryRemote } = this.#deps;
    grants.hold(envelope, row.id);
    if (carryRemote === undefined || row.profile.card.origin === 'local' || this.#receivers.has(row.id)) {
      return this.#settle(row, envelope, this.#receivers.deliver(row.id, envelope));
    }
    return carryRemote(envelope, row.id).then(
      () => this.#settle(row, envelope, undefined),
      (error: unknown) => this.#settle(row, envelope, errorToData(error).message),
    );
  }

  #settle(row: AgentRow, envelope: A2AEnvelope, failure: string | undefined): string | undefined {
    const { id, sender, type, metadata } = envelope;
    if (failure !== undefined) this.#deps.grants.end(id, row.id, sender);
    else if (metadata?.inReplyTo !== undefined) {
      this.#deps.grants.use({ inReplyTo: metadata.inReplyTo, sender, recipient: row.id, type });
    }
    return failure;
  }
}
