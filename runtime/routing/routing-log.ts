import type { Mail } from '../mailbox/mail.ts';
import { aboutMail, tiersOf } from '../observe/about-mail.ts';
import type { A2AObservability } from '../observe/observability.ts';
import type { ErrorData } from '../protocol/errors.ts';
import type { A2ALogEvent } from '../protocol/log-event.ts';
import { isCrossTier, type Party } from '../protocol/policy.ts';
import type { Refusal, RoutingResult } from '../protocol/routing-result.ts';
import type { Clock } from '../protocol/seams.ts';

/** Sender and recipient, as far as known. There is no `source` if the sender is not registered. */
export interface Ends {
  readonly source: Party | undefined;
  readonly target?: Party | undefined;
}

/** Why an envelope did not arrive: a `rule` refused it, or something was `missing` or failed. */
export type RefusalKind = 'rule' | 'missing';

/** Reports what a router does as events. Refusals by rule, and envelopes from tier to tier, are security events. */
export class RoutingLog {
  readonly #observability: A2AObservability;
  readonly #clock: Pick<Clock, 'now'>;

  constructor(observability: A2AObservability, clock: Pick<Clock, 'now'>) {
    this.#observability = observability;
    this.#clock = clock;
  }

  /** Reports that the envelope was sent; once for each envelope. */
  sent(mail: Mail): void {
    this.#emit({ type: 'message-sent' }, mail);
  }

  /** Reports that one recipient took the envelope. */
  received(mail: Mail, targetAgentId: string): void {
    this.#emit({ type: 'message-received', targetAgentId }, mail);
  }

  /** Reports where the envelope was routed, how long that took, and the result; once for each envelope. */
  decided(
    mail: Mail,
    { path, targetAgentId, latencyMs, delivered, errorCode }: RoutingResult,
    { source, target }: Ends,
  ): void {
    this.#emit(
      {
        type: 'routing-decision',
        routingPath: path,
        targetAgentId,
        latencyMs,
        success: delivered,
        ...(errorCode === undefined ? {} : { errorCode }),
        ...tiersOf(source, target),
        ...(source !== undefined && target !== undefined && isCrossTier(source, target)
          ? { security: true }
          : {}),
      },
      mail,
    );
  }

  /** Reports that a broadcast reached a recipient of another tier, which `decided` does not tell. */
  reached(mail: Mail, source: Party, target: Party): void {
    if (!isCrossTier(source, target)) return;
    const decision = {
      type: 'routing-decision',
      routingPath: 'broadcast',
      targetAgentId: target.id,
    } as const;
    this.#emit({ ...decision, success: true, security: true, ...tiersOf(source, target) }, mail);
  }

  /** Reports that the envelope did not reach one recipient. */
  refused(mail: Mail, { agentId, code, reason }: Refusal, { source, target }: Ends, kind: RefusalKind): void {
    const refusal = {
      type: 'error',
      targetAgentId: agentId,
      errorCode: code,
      reason,
      success: false,
    } as const;
    this.#emit(
      { ...refusal, ...tiersOf(source, target), ...(kind === 'rule' ? { security: true } : {}) },
      mail,
    );
  }

  /** Reports a fault that has to do with no envelope. */
  failed({ code, message }: ErrorData, recipient?: string): void {
    const about = recipient === undefined ? {} : { recipient };
    this.#emit({ type: 'error', errorCode: code, reason: message, success: false, ...about });
  }

  #emit(event: Omit<A2ALogEvent, 'timestamp'>, mail?: Mail): void {
    const facts = mail === undefined ? {} : aboutMail(mail);
    this.#observability.emit({ ...facts, ...event, timestamp: this.#clock.now() });
  }
}
