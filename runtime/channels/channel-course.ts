import { MachineHost } from '../machine/machine-host.ts';
import { OrreryError } from '../protocol/errors.ts';
import type { ChannelStatus } from '../protocol/channel-status.ts';
import { type ChannelLifeEvent, channelMachine } from './channel.machine.ts';
import type { ChannelEventBody } from './channel-event.ts';

/**
 * What an end of a channel does at the steps of its life.
 *
 * - `release` of everything it holds, for this reason: it is closed.
 */
export interface ChannelActs {
  dial(): void;
  dialAgain(): void;
  resume(): void;
  release(reason: string): void;
}

/** Runs the machine of one end: reports each change of status, and calls the end's actions. */
export class ChannelCourse {
  readonly #life: MachineHost<typeof channelMachine>;
  readonly #report: (event: ChannelEventBody) => void;
  #told: ChannelStatus | undefined;

  constructor(report: (event: ChannelEventBody) => void, acts: ChannelActs) {
    this.#report = report;
    this.#life = new MachineHost(channelMachine, {
      actions: {
        tellStatus: ({ event }) => this.#tell(event.reason),
        dial: () => acts.dial(),
        dialAgain: () => acts.dialAgain(),
        resume: () => acts.resume(),
        release: ({ event }) => acts.release(event.reason ?? 'it was closed'),
      },
    });
  }

  get status(): ChannelStatus {
    return this.#life.value;
  }

  start(): void {
    this.#life.start();
  }

  /** Takes the step that `type` leads to; throws REFUSED for one that cannot be taken now. */
  take(type: ChannelLifeEvent['type'], reason?: string): void {
    const event = reason === undefined ? { type } : { type, reason };
    if (!this.#life.can(event)) throw invalidTransition(this.status, type);
    this.#life.send(event);
  }

  #tell(reason: string | undefined): void {
    const from = this.#told;
    this.#told = this.status;
    const because = reason === undefined ? {} : { reason };
    this.#report({ type: 'channel-status', from, status: this.status, ...because });
  }
}

const invalidTransition = (status: ChannelStatus, event: string): OrreryError =>
  new OrreryError('REFUSED', `A channel that is ${status} cannot take ${event}`, {
    details: { status, event },
  });
