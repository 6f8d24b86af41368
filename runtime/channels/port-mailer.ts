import type { Behalf } from '../mailbox/behalf.ts';
import type { Mail } from '../mailbox/mail.ts';
import type { Seams } from '../protocol/seams.ts';
import type { Taint } from '../protocol/taint.ts';
import {
  controlMail,
  dataMail,
  onBehalf,
  type OpenRequest,
  type PortAim,
  type PortMessage,
  type PortStamp,
} from './port-mail.ts';
import type { PortOutcome } from './port-sender.ts';

/**
 * An agent with channels, in one of its lives.
 *
 * - `life`   names this life of the agent, in the whole system.
 * - `ask`    sends a mail in the agent's name as soon as there is room for it; `answered` is called once, within this call
 *            or later.
 * - `taint`  where what the agent has in it came from outside.
 * - `behalf` on whose behalf the work is done that it has in hand.
 */
export interface ChannelAgent {
  readonly agentId: string;
  readonly life: string;
  ask(mail: Mail, answered: (outcome: PortOutcome) => void, signal?: AbortSignal): void;
  taint(): Taint | undefined;
  behalf(): Behalf | undefined;
}

/** Sends the mail of one end of a channel, in the name of its agent. */
export class PortMailer {
  readonly #stamp: PortStamp;
  readonly #agent: ChannelAgent;
  readonly #seams: Pick<Seams, 'clock' | 'newId'>;
  /** A first request is made for the work in hand; later ones have the channel go on for all who use it. */
  readonly #openedFor: Behalf | undefined;

  constructor(stamp: PortStamp, agent: ChannelAgent, seams: Pick<Seams, 'clock' | 'newId'>) {
    this.#stamp = stamp;
    this.#agent = agent;
    this.#seams = seams;
    this.#openedFor = agent.behalf();
  }

  /** Asks the other agent for the channel; `answered` is called once, unless `signal` aborts. */
  open(
    request: OpenRequest,
    { untilMs, signal }: { readonly untilMs: number; readonly signal: AbortSignal },
    answered: (outcome: PortOutcome) => void,
  ): void {
    const mail = this.#control('open', request, untilMs);
    this.#agent.ask(onBehalf(mail, request.resumes ? undefined : this.#openedFor), answered, signal);
  }

  /** Gives the other end a message; `answered` is called once, within this call or later. */
  give(message: PortMessage, aim: PortAim, answered: (outcome: PortOutcome) => void): void {
    this.#agent.ask(dataMail(message, this.#stamp, aim), answered);
  }

  /** Tells the other end of this one. */
  tell(act: 'ready' | 'lost' | 'close', payload: unknown): void {
    this.#agent.ask(this.#control(act, payload), () => undefined);
  }

  #control(act: 'open' | 'ready' | 'lost' | 'close', payload: unknown, deadlineAtMs?: number): Mail {
    const { clock, newId } = this.#seams;
    return controlMail(this.#stamp, act, {
      id: newId(),
      nowMs: clock.now(),
      payload,
      ...(deadlineAtMs === undefined ? {} : { deadlineAtMs }),
    });
  }
}
