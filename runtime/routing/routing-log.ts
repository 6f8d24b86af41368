import type { A2AObservability } from '../observe/observability.ts';
import type { A2AEnvelope } from '../protocol/envelope.ts';
import type { ErrorData } from '../protocol/errors.ts';
import type { A2ALogEvent } from '../protocol/log-event.ts';
import type { Party } from '../protocol/policy.ts';
import type { Refusal, RoutingResult } from '../protocol/routing-result.ts';
import type { Clock } from '../protocol/seams.ts';

/** From whom to whom, as far as known: nobody registered a sender without a `source`. */
export interface Ends {
  readonly source: Party | undefined;
  readonly target?: Party | undefined;
}

/** Why an envelope did not arrive: a `rule` said no, or something was `missing` or failed. */
export type RefusalKind = 'rule' | 'missing';

/** Writes down what a router does. Refusals by rule and what crosses from tier to tier are security events. */
export class RoutingLog {
  readonly #observability: A2AObservability;
  readonly #clock: Pick<Clock, 'now'>;

  constructor(observability: A2AObservability, clock: Pick<Clock, 'now'>) {
    this.#observability = observability;
    this.#clock = clock;
  }

  /** The envelope left its sender; once an envelope. */
  sent(envelope: A2AEnvelope): void {
    this.#emit({ type: 'message-sent' }, envelope);
  }

  /** One recipient took the envelope. */
  received(envelope: A2AEnvelope, targetAgentId: string): void {
    this.#emit({ type: 'message-received', targetAgentId }, envelope);
  }

  /** Where the envelope was routed, how long that took, what came of it; once an envelope. */
  decided(
    envelope: A2AEnvelope,
    { path, targetAgentId, latencyMs, delivered, errorCode }: RoutingResult,
    ends: Ends,
  ): void {
    this.#emit(
      {
        type: 'routing-decision',
        routingPath: path,
        targetAgentId,
        latencyMs,
        success: delivered,
        ...(errorCode === undefined ? {} : { errorCode }),
        ...tiersOf(ends),
        ...(isCrossTier(ends) ? { security: true } : {}),
      },
      envelope,
    );
  }

  /** A broadcast reached one recipient; said only where it crossed from tier to tier, which `decided` does not tell. */
  reached(envelope: A2AEnvelope, source: Party, target: Party): void {
    if (!isCrossTier({ source, target })) return;
    const decision = {
      type: 'routing-decision',
      routingPath: 'broadcast',
      targetAgentId: target.id,
    } as const;
    this.#emit({ ...decision, success: true, security: true, ...tiersOf({ source, target }) }, envelope);
  }

  /** The envelope did not reach one recipient. */
  refused(envelope: A2AEnvelope, { agentId, code, reason }: Refusal, ends: Ends, kind: RefusalKind): void {
    const refusal = {
      type: 'error',
      targetAgentId: agentId,
      errorCode: code,
      reason,
      success: false,
    } as const;
    this.#emit({ ...refusal, ...tiersOf(ends), ...(kind === 'rule' ? { security: true } : {}) }, envelope);
  }

  /** Something else went wrong, in connection with nobody's envelope. */
  failed({ code, message }: ErrorData, recipient?: string): void {
    const about = recipient === undefined ? {} : { recipient };
    this.#emit({ type: 'error', errorCode: code, reason: message, success: false, ...about });
  }

  #emit(event: Omit<A2ALogEvent, 'timestamp'>, envelope?: A2AEnvelope): void {
    const facts = envelope === undefined ? {} : factsOf(envelope);
    this.#observability.emit({ ...facts, ...event, timestamp: this.#clock.now() });
  }
}

const isCrossTier = ({ source, target }: Ends): boolean =>
  source !== undefined &&
  target !== undefined &&
  !source.isSystem &&
  !target.isSystem &&
  source.tier !== target.tier;

const factsOf = ({ id, correlationId, sender, recipient, type }: A2AEnvelope): Partial<A2ALogEvent> => ({
  envelopeId: id,
  ...(correlationId === undefined ? {} : { correlationId }),
  sender,
  recipient,
  messageType: type,
});

const tiersOf = ({ source, target }: Ends): Pick<A2ALogEvent, 'sourceTier' | 'targetTier'> => ({
  ...(source === undefined || source.isSystem ? {} : { sourceTier: source.tier }),
  ...(target === undefined || target.isSystem ? {} : { targetTier: target.tier }),
});
