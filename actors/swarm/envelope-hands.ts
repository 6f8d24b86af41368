import type { A2AEnvelope } from '../../runtime/protocol/envelope.ts';
import { noteOf } from './assignment-note.ts';
import type { SwarmLetter, SwarmMedium } from './swarm-medium.ts';
import type { HandedWork, Hands, WorkOrder, WorkReports } from './swarm-reach.ts';
import { faultIn } from './swarm-requests.ts';

interface Handed {
  readonly agentId: string;
  readonly reports: WorkReports;
}

/**
 * Hands assignments over as envelopes: a request that names the capability, with the assignment in `metadata.swarm`. The
 * agent answers with a response or an error, and shows progress by notifications, each in reply to the request.
 */
export class EnvelopeHands implements Hands {
  readonly isExplicit = true;
  readonly isLasting = false;
  readonly #medium: SwarmMedium;
  readonly #handed = new Map<string, Handed>();

  constructor(medium: SwarmMedium) {
    this.#medium = medium;
  }

  isKeptFor(): boolean {
    return false;
  }

  hand(order: WorkOrder, reports: WorkReports): HandedWork {
    let isListening = true;
    let sentIn: string | undefined;
    const stop = (): void => {
      isListening = false;
      if (sentIn !== undefined) this.#handed.delete(sentIn);
    };
    const send = async (): Promise<void> => {
      await undefined; // Nothing is reported before this function has returned.
      if (!isListening) return;
      const result = await this.#medium.send(letterOf(order), (envelopeId) => {
        sentIn = envelopeId;
        this.#handed.set(envelopeId, { agentId: order.agentId, reports });
        reports.sent(envelopeId);
      });
      if (result.delivered || !isListening) return;
      stop();
      const { errorCode = 'DELIVERY_FAILED', error = 'it was not delivered' } = result;
      reports.failed({ code: errorCode, message: error });
    };
    void send();
    return { cancel: stop, release: stop };
  }

  handAgain(order: WorkOrder, envelopeId: string | undefined, reports: WorkReports): HandedWork | undefined {
    if (envelopeId === undefined) return undefined;
    this.#handed.set(envelopeId, { agentId: order.agentId, reports });
    const stop = (): void => void this.#handed.delete(envelopeId);
    return { cancel: stop, release: stop };
  }

  /** Takes an envelope that has come for the owner; false when it answers no assignment that is listened to. */
  receive({ type, sender, payload, metadata }: A2AEnvelope): boolean {
    const envelopeId = metadata?.inReplyTo;
    const handed = envelopeId === undefined ? undefined : this.#handed.get(envelopeId);
    if (envelopeId === undefined || handed?.agentId !== sender) return false;
    switch (type) {
      case 'notification':
        handed.reports.progressed((payload ?? {}) as { partial?: unknown });
        return true;
      case 'response':
        this.#handed.delete(envelopeId);
        handed.reports.completed(payload);
        return true;
      case 'error':
        this.#handed.delete(envelopeId);
        handed.reports.failed(faultIn(payload));
        return true;
      default:
        return false;
    }
  }
}

function letterOf(order: WorkOrder): SwarmLetter {
  const { partial, justification } = order;
  return {
    recipient: order.agentId,
    type: 'request',
    expectsReply: true,
    capability: order.capability,
    payload: order.input,
    correlationId: order.correlationId,
    deadlineAtMs: order.deadlineAtMs,
    metadata: { swarm: noteOf(order), ...(partial === undefined ? {} : { resumeFrom: partial }) },
    ...(justification === undefined ? {} : { justification }),
  };
}
