import { z } from 'zod';
import { faultsOf } from '../../runtime/protocol/payload-faults.ts';
import { type A2AEnvelope, parseEnvelope } from '../../runtime/protocol/envelope.ts';
import type { EnvelopeFactory } from '../../runtime/protocol/envelope-factory.ts';
import { crdtDeserializationFailed } from './sync-errors.ts';
import type { SyncMedium } from './sync-medium.ts';
import { type SyncMessage, SyncMessageJson } from './sync-message.ts';

/** What marks an envelope's payload as a message of a sync channel. */
export const SYNC_SCHEMA = 'orrery/crdt-sync/v1';

/** The message as a `stream-data` envelope to `recipient`: source, clock, payload in base64 and time. */
export function syncEnvelope(
  message: SyncMessage,
  recipient: string,
  factory: Pick<EnvelopeFactory, 'create'>,
): A2AEnvelope {
  return factory.create({
    sender: message.sourceAgentId,
    recipient,
    type: 'stream-data',
    correlationId: message.channelId,
    payload: z.encode(SyncMessageJson, message),
    schema: SYNC_SCHEMA,
  });
}

/**
 * The message in an envelope.
 *
 * Fails as `parseEnvelope` does; with CRDT_DESERIALIZATION_FAILED naming the sender when the envelope carries no sync
 * message, or one of another source.
 */
export function syncMessageOf(envelope: unknown): SyncMessage {
  const { type, schema, sender, payload } = parseEnvelope(envelope);
  if (type !== 'stream-data' || schema !== SYNC_SCHEMA) {
    throw crdtDeserializationFailed(
      sender,
      `a ${type} envelope of schema ${schema ?? 'none'} is no sync message`,
    );
  }
  const parsed = SyncMessageJson.safeParse(payload);
  if (!parsed.success) throw crdtDeserializationFailed(sender, faultsOf(parsed.error, payload));
  if (parsed.data.sourceAgentId === sender) return parsed.data;
  throw crdtDeserializationFailed(sender, `it names ${parsed.data.sourceAgentId} as its source`);
}

/**
 * - `send`     passes an envelope on, such as a channel's or a router's; rejects when that was not possible.
 * - `members`  whom `publish` writes to, the own id left out.
 */
export interface EnvelopeMediumDeps {
  readonly agentId: string;
  readonly factory: Pick<EnvelopeFactory, 'create'>;
  readonly members: () => readonly string[];
  readonly send: (envelope: A2AEnvelope) => Promise<unknown>;
}

/** A medium over envelopes: whoever receives them for the agent gives them to `receive`. */
export class EnvelopeMedium implements SyncMedium {
  readonly #deps: EnvelopeMediumDeps;
  #listener: ((message: unknown) => void) | undefined;

  constructor(deps: EnvelopeMediumDeps) {
    this.#deps = deps;
  }

  /** One envelope a member; rejects when none could be passed on. */
  async publish(message: SyncMessage): Promise<undefined> {
    const { agentId, members } = this.#deps;
    const others = members().filter((id) => id !== agentId);
    const passed = await Promise.allSettled(others.map((id) => this.send(id, message)));
    const failed = passed.find((one) => one.status === 'rejected');
    if (failed !== undefined && passed.every(({ status }) => status === 'rejected')) throw failed.reason;
  }

  async send(agentId: string, message: SyncMessage): Promise<void> {
    await this.#deps.send(syncEnvelope(message, agentId, this.#deps.factory));
  }

  onMessage(listener: (message: unknown) => void): void {
    this.#listener = listener;
  }

  /** Takes an envelope that has come for the agent; fails as `syncMessageOf` does. */
  receive(envelope: unknown): void {
    this.#listener?.(syncMessageOf(envelope));
  }

  async close(): Promise<void> {
    this.#listener = undefined;
  }
}
