import type { AgentCard } from './agent-card.ts';
import { Budget, narrower } from './budget.ts';
import {
  type A2AEnvelope,
  type A2AMessageType,
  asksForWork,
  BROADCAST,
  type EnvelopeMetadata,
  SCHEMA_VERSION,
} from './envelope.ts';
import { agentNotFound, invalidOptions, noHopsLeft, notSerialisable } from './errors.ts';
import { earlier, type Inherited, inheritForReply, inheritFrom } from './inheritance.ts';
import { findUnserialisable } from './json.ts';
import { parseOptions } from './parse-options.ts';
import { isSystemId } from './policy.ts';
import type { Seams } from './seams.ts';
import { systemSeams } from './system-seams.ts';
import { mergeTaint } from './taint.ts';

/**
 * - `cardOf` finds the sender's card, for its tier and sandbox: such as `(id) => registry.getById(id)`.
 * - `seams`  @default the real ones
 */
export interface EnvelopeFactoryDeps {
  readonly seams?: Pick<Seams, 'clock' | 'newId'>;
  readonly cardOf: (agentId: string) => Pick<AgentCard, 'tier' | 'sandboxId'> | undefined;
}

/**
 * The content of a new envelope: everything beside sender and recipient.
 *
 * - `correlationId` the conversation it belongs to. @default that of `cause`, else its own id
 * - `metadata`      tier and sandbox in it are ignored: they come from the sender's card.
 * - `carries`       `structured` for a payload that will not cross as JSON. @default 'json'
 */
export interface EnvelopeContent {
  readonly payload?: unknown;
  readonly correlationId?: string;
  readonly metadata?: Partial<EnvelopeMetadata>;
  readonly session?: A2AEnvelope['session'];
  readonly schema?: string;
  readonly carries?: 'json' | 'structured';
}

/**
 * `cause` is the envelope that the sender is handling: its conversation, deadline, path, budget and taint are passed on. The
 * budget in it is what this envelope may spend. The caller sees to it that several envelopes do not spend more than there is.
 */
export interface NewEnvelope extends EnvelopeContent {
  readonly sender: string;
  readonly recipient: string;
  readonly type: A2AMessageType;
  readonly cause?: A2AEnvelope;
}

/** `sender` is needed if the answered envelope was addressed to a capability or to everybody. @default type 'response' */
export interface NewReply extends EnvelopeContent {
  readonly sender?: string;
  readonly type?: A2AMessageType;
}

/** Makes envelopes, with id, time, version, and the sender's tier and sandbox. */
export class EnvelopeFactory {
  readonly #deps: Required<EnvelopeFactoryDeps>;

  constructor({ seams = systemSeams(), cardOf }: EnvelopeFactoryDeps) {
    this.#deps = { seams, cardOf };
  }

  /**
   * Makes an envelope. Fails with AGENT_NOT_FOUND on an unregistered sender, NOT_SERIALISABLE if JSON cannot carry the payload,
   * INVALID_OPTIONS on an invalid budget, and HOP_LIMIT if the budget of `cause` allows no more delegation.
   */
  create(envelope: NewEnvelope): A2AEnvelope {
    const { cause, sender, type } = envelope;
    if (cause === undefined) return this.#make(envelope, undefined);
    const { budget, ...inherited } = inheritFrom(cause, sender);
    return this.#make(envelope, {
      ...inherited,
      budget: asksForWork(type) ? afterDelegation(budget, sender) : budget,
    });
  }

  /** The answer to `to`, in its conversation and within its deadline. Fails as `create` does. */
  reply(to: A2AEnvelope, { sender = addresseeOf(to), type = 'response', ...content }: NewReply): A2AEnvelope {
    const metadata = { ...content.metadata, inReplyTo: to.id };
    return this.#make({ ...content, sender, recipient: to.sender, type, metadata }, inheritForReply(to));
  }

  #make(wanted: Omit<NewEnvelope, 'cause'>, inherited: Inherited | undefined): A2AEnvelope {
    const { sender, recipient, type, payload = null, session, schema, carries = 'json' } = wanted;
    const metadata = this.#metadata(sender, wanted.metadata ?? {}, inherited);
    if (carries === 'json') requireJson(payload, 'payload');
    requireJson(metadata, 'metadata');
    const id = this.#deps.seams.newId();
    return {
      id,
      schemaVersion: SCHEMA_VERSION,
      sender,
      recipient,
      correlationId: wanted.correlationId ?? inherited?.correlationId ?? id,
      type,
      timestamp: this.#deps.seams.clock.now(),
      payload,
      metadata,
      ...(session === undefined ? {} : { session }),
      ...(schema === undefined ? {} : { schema }),
    };
  }

  #metadata(
    sender: string,
    chosen: Partial<EnvelopeMetadata>,
    inherited: Inherited | undefined,
  ): EnvelopeMetadata {
    const card = isSystemId(sender) ? { tier: 0 as const } : this.#deps.cardOf(sender);
    if (card === undefined) throw agentNotFound(sender);
    const metadata: EnvelopeMetadata = { ...chosen, tier: card.tier };
    delete metadata.sandboxId;
    if (card.sandboxId !== undefined) metadata.sandboxId = card.sandboxId;
    const deadlineAtMs = earlier(chosen.deadlineAtMs, inherited?.deadlineAtMs);
    if (deadlineAtMs !== undefined) metadata.deadlineAtMs = deadlineAtMs;
    if (inherited?.path !== undefined) metadata.path = [...inherited.path];
    const own =
      chosen.budget === undefined ? undefined : parseOptions(Budget, chosen.budget, 'metadata.budget');
    const budget = narrower(own, inherited?.budget);
    if (budget !== undefined) metadata.budget = budget;
    const taint = mergeTaint(chosen.taint, inherited?.taint);
    if (taint !== undefined) metadata.taint = taint;
    if (inherited?.requester !== undefined) metadata.requester = inherited.requester;
    return metadata;
  }
}

/** The budget after one more hop of delegation. Throws HOP_LIMIT if there is none left. */
function afterDelegation(budget: Budget | undefined, sender: string): Budget | undefined {
  if (budget?.hops === undefined) return budget;
  if (budget.hops === 0) throw noHopsLeft(sender);
  return { ...budget, hops: budget.hops - 1 };
}

function addresseeOf({ recipient, metadata }: A2AEnvelope): string {
  if (recipient !== BROADCAST && metadata?.routingHint !== 'capability') return recipient;
  throw invalidOptions(
    'reply.sender',
    undefined,
    `the agent that answers, as the envelope went to "${recipient}"`,
  );
}

function requireJson(value: unknown, field: string): void {
  const found = findUnserialisable(value, field);
  if (found !== undefined) throw notSerialisable(found.path, found.kind);
}
