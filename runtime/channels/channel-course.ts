import type { ChannelStatus } from '../protocol/channel-status.ts';
import type { ChannelLifeEvent } from './channel.machine.ts';
import type { ChannelEventBody } from './channel-event.ts';
import { type ChannelEffect, firstChannelStep, nextChannelStep } from './channel-life.ts';

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

/** The life of one end of a channel: tells of each change of its status, and has the end act. */
export class ChannelCourse {
  #status: ChannelStatus = firstChannelStep().status;
  readonly #report: (event: ChannelEventBody) => void;
  readonly #acts: ChannelActs;

  constructor(report: (event: ChannelEventBody) => void, acts: ChannelActs) {
    this.#report = report;
    this.#acts = acts;
  }

  get status(): ChannelStatus {
    return this.#status;
  }

  start(): void {
    this.#report({ type: 'channel-status', from: undefined, status: this.#status });
    this.#run(firstChannelStep().effects, undefined);
  }

  /** Takes the step that `type` leads to; throws REFUSED for one that cannot be taken now. */
  take(type: ChannelLifeEvent['type'], reason?: string): void {
    const from = this.#status;
    const { status, effects } = nextChannelStep(from, type);
    this.#status = status;
    if (status !== from) {
      const because = reason === undefined ? {} : { reason };
      this.#report({ type: 'channel-status', from, status, ...because });
    }
    this.#run(effects, reason);
  }

  #run(effects: readonly ChannelEffect[], reason: string | undefined): void {
    for (const effect of effects) {
      if (effect === 'release') this.#acts.release(reason ?? 'it was closed');
      else this.#acts[effect]();
    }
  }
}
