import { Fifo } from '../mailbox/fifo.ts';
import {
  cancelled,
  channelClosed,
  deliveryFailed,
  type ErrorCode,
  mailboxFull,
  type OrreryError,
} from '../protocol/errors.ts';
import type { ChannelEventBody } from './channel-event.ts';
import type { PortChannelSettings } from './port-channel-options.ts';
import type { DataAnswer, PortAim, PortMessage } from './port-mail.ts';

/** The outcome of a mail: the recipient's answer, or the error. */
export type PortOutcome = { readonly value: unknown } | { readonly error: OrreryError };

export interface PortSenderDeps {
  readonly channelId: string;
  /** Sends a message to the other end; `answered` is called once, within this call or later. */
  readonly give: (message: PortMessage, aim: PortAim, answered: (outcome: PortOutcome) => void) => void;
  readonly report: (event: ChannelEventBody) => void;
  /** Called when the recipient's life is over. */
  readonly onLost: (life: string, reason: string) => void;
  /** Called when the other end has closed the channel. */
  readonly onClosed: () => void;
}

interface Delivery {
  readonly message: PortMessage;
  isUnderWay: boolean;
  settle: (error?: Error) => void;
}

/** Codes of a recipient that ended before it began: its successor may be given the envelope. */
const NOT_BEGUN: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'THREAD_DIED',
  'NOT_HERE',
  'SUPERVISOR_GAVE_UP',
  'AGENT_NOT_FOUND',
]);

/** Codes of an envelope that arrived and will not be handled any more. */
const FAILED: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'ACTOR_DIED',
  'POISON',
  'DEADLINE_EXCEEDED',
  'CANCELLED',
]);

/**
 * The sending half of one end of a channel between agents of a system: a window of envelopes under way, each an ask whose
 * answer says that a handler was called.
 *
 * What the other end does not take now, because nobody listens or its actor is another one, is given again, in order, when
 * it says that somebody does; before that, everything under way must have been answered.
 */
export class PortSender {
  readonly #deps: PortSenderDeps;
  readonly #settings: Pick<PortChannelSettings, 'windowSize' | 'waitingCapacity'>;
  readonly #waiting = new Fifo<Delivery>();
  // On their way or to be given again, in order; the first `#given` of them have been given to `#used`.
  #unsettled: Delivery[] = [];
  #given = 0;
  #underWay = 0;
  #aim: PortAim | undefined;
  #used: PortAim | undefined;
  #isPumping = false;

  constructor(deps: PortSenderDeps, settings: Pick<PortChannelSettings, 'windowSize' | 'waitingCapacity'>) {
    this.#deps = deps;
    this.#settings = settings;
  }

  /** Resolves when a handler was called. Fails as `A2AChannel.send` does. */
  send(message: PortMessage, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const abort = (): void => {
        if (this.#takeBack(delivery)) delivery.settle(cancelled(`Sending ${message.envelope.id}`));
      };
      const delivery: Delivery = {
        message,
        isUnderWay: false,
        settle: (error) => {
          signal?.removeEventListener('abort', abort);
          if (error === undefined) resolve();
          else reject(error);
        },
      };
      const { windowSize, waitingCapacity } = this.#settings;
      const room = Math.max(0, windowSize - this.#unsettled.length) + waitingCapacity;
      if (this.#waiting.length >= room) {
        reject(mailboxFull(`the channel ${this.#deps.channelId}`, waitingCapacity));
        return;
      }
      this.#waiting.push(delivery);
      signal?.addEventListener('abort', abort, { once: true });
      this.#pump();
    });
  }

  /** Writes to `aim` from now on; to nobody without one. */
  aimAt(aim: PortAim | undefined): void {
    const isSame = aim !== undefined && this.#aim?.life === aim.life && this.#aim.run === aim.run;
    if (isSame) return;
    this.#aim = aim === undefined || aim.run === 0 ? undefined : aim;
    this.#pump();
  }

  /** Rejects everything with CHANNEL_CLOSED. */
  close(reason: string): void {
    const { channelId } = this.#deps;
    this.#aim = undefined;
    const unsettled = this.#unsettled;
    this.#unsettled = [];
    this.#given = 0;
    for (const { isUnderWay, settle } of unsettled) settle(channelClosed(channelId, reason, isUnderWay));
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift())
      next.settle(channelClosed(channelId, reason, false));
  }

  #takeBack(delivery: Delivery): boolean {
    for (let at = 0; at < this.#waiting.length; at++)
      if (this.#waiting.at(at) === delivery) return this.#waiting.removeAt(at) !== undefined;
    return false;
  }

  #pump(): void {
    if (this.#isPumping) return;
    this.#isPumping = true;
    for (let next = this.#next(); next !== undefined; next = this.#next()) this.#give(next);
    this.#isPumping = false;
  }

  #next(): Delivery | undefined {
    if (this.#aim === undefined) return undefined;
    if (this.#aim !== this.#used) {
      if (this.#underWay > 0) return undefined;
      this.#used = this.#aim;
      this.#given = 0;
    }
    if (this.#given < this.#unsettled.length) return this.#unsettled[this.#given++];
    if (this.#unsettled.length >= this.#settings.windowSize) return undefined;
    const next = this.#waiting.shift();
    if (next === undefined) return undefined;
    this.#unsettled.push(next);
    this.#given += 1;
    return next;
  }

  #give(delivery: Delivery): void {
    const aim = this.#used as PortAim;
    delivery.isUnderWay = true;
    this.#underWay += 1;
    this.#deps.give(delivery.message, aim, (outcome) => {
      delivery.isUnderWay = false;
      this.#underWay -= 1;
      if ('error' in outcome) this.#refused(delivery, aim, outcome.error);
      else this.#answered(delivery, aim, outcome.value as DataAnswer);
      this.#pump();
    });
  }

  #answered(delivery: Delivery, aim: PortAim, answer: DataAnswer): void {
    const { onLost, onClosed } = this.#deps;
    if (answer === 'later') this.#forget(aim);
    else if (answer === 'elsewhere') {
      this.#forget(aim);
      onLost(aim.life, 'its actor is another one');
    } else if (answer === 'closed') onClosed();
    else this.#settle(delivery);
  }

  #refused(delivery: Delivery, aim: PortAim, error: OrreryError): void {
    const { channelId, report, onLost } = this.#deps;
    const { code, message: reason } = error;
    if (NOT_BEGUN.has(code)) {
      this.#forget(aim);
      onLost(aim.life, reason);
      return;
    }
    if (!FAILED.has(code)) {
      this.#settle(delivery, error);
      return;
    }
    const mayHaveArrived = code === 'ACTOR_DIED';
    const envelopeId = delivery.message.envelope.id;
    if (
      this.#settle(delivery, deliveryFailed(envelopeId, `the channel ${channelId}`, reason, mayHaveArrived))
    )
      report({ type: 'delivery-failed', errorCode: 'DELIVERY_FAILED', envelopeId, reason });
    if (mayHaveArrived) onLost(aim.life, reason);
  }

  /** Stops sending to `aim`. Later envelopes may have arrived already. */
  #forget(aim: PortAim): void {
    if (this.#aim === aim) this.#aim = undefined;
  }

  /** Settles a delivery; false when it was settled before. */
  #settle(delivery: Delivery, error?: Error): boolean {
    const at = this.#unsettled.indexOf(delivery);
    if (at < 0) return false;
    this.#unsettled.splice(at, 1);
    if (at < this.#given) this.#given -= 1;
    delivery.settle(error);
    return true;
  }
}
