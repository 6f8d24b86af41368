import { z } from 'zod';
import { parseOptions } from '../protocol/parse-options.ts';
import type { Clock, Random } from '../protocol/seams.ts';

const Probability = z.number().min(0).max(1);

/**
 * What a link between machines does to messages.
 *
 * - `loss`        probability that one never arrives.
 * - `duplication` probability that one arrives twice.
 * - `ms`          how long one takes, a range in milliseconds: a later one may arrive sooner.
 * - `keepsOrder`  none arrives before an earlier one. @default false
 */
export const LinkFaults = z.strictObject({
  loss: Probability.default(0),
  duplication: Probability.default(0),
  ms: z.tuple([z.number().nonnegative(), z.number().nonnegative()]).default([1, 50]),
  keepsOrder: z.boolean().default(false),
});
export type LinkFaults = z.input<typeof LinkFaults>;

export interface FaultyLinkDeps {
  readonly clock: Pick<Clock, 'monotonicMs' | 'setTimer'>;
  readonly random: Random;
}

/** What happened on a link. `cut` counts messages that were lost because it was cut. */
export interface LinkCounts {
  readonly carried: number;
  readonly lost: number;
  readonly duplicated: number;
  readonly overtaken: number;
  readonly cut: number;
}

/** A link that loses, repeats, delays and reorders: what lies between machines, in front of a medium that does not. */
export class FaultyLink {
  readonly #deps: FaultyLinkDeps;
  readonly #faults: z.output<typeof LinkFaults>;
  readonly #counts = { carried: 0, lost: 0, duplicated: 0, overtaken: 0, cut: 0 };
  #latestAtMs = 0;
  #cutUntilMs = 0;

  constructor(deps: FaultyLinkDeps, faults: LinkFaults = {}) {
    this.#deps = deps;
    this.#faults = parseOptions(LinkFaults, faults, 'faults');
  }

  get counts(): LinkCounts {
    return { ...this.#counts };
  }

  /** Calls `deliver` with the message: later, once, twice or never. */
  carry<Message>(message: Message, deliver: (message: Message) => void): void {
    const { random, clock } = this.#deps;
    const { loss, duplication } = this.#faults;
    if (clock.monotonicMs() < this.#cutUntilMs) {
      this.#counts.cut += 1;
      return;
    }
    if (random() < loss) {
      this.#counts.lost += 1;
      return;
    }
    this.#counts.carried += 1;
    this.#send(message, deliver);
    if (random() >= duplication) return;
    this.#counts.duplicated += 1;
    this.#send(message, deliver);
  }

  /** Nothing arrives that is sent in this time. */
  cut(ms: number): void {
    this.#cutUntilMs = Math.max(this.#cutUntilMs, this.#deps.clock.monotonicMs() + ms);
  }

  #send<Message>(message: Message, deliver: (message: Message) => void): void {
    const { clock, random } = this.#deps;
    const [least, most] = this.#faults.ms;
    const nowMs = clock.monotonicMs();
    const drawnMs = nowMs + least + random() * (most - least);
    const atMs = this.#faults.keepsOrder ? Math.max(drawnMs, this.#latestAtMs) : drawnMs;
    if (atMs < this.#latestAtMs) this.#counts.overtaken += 1;
    this.#latestAtMs = Math.max(this.#latestAtMs, atMs);
    clock.setTimer(atMs - nowMs, () => deliver(message));
  }
}

/** What a medium has on which messages come: `onMessage` of shared state, `listen` of negotiations. */
type Heard = 'onMessage' | 'listen';

/** The medium, with everything that comes on it coming over the link. */
export function overLink<Medium extends object>(medium: Medium, link: FaultyLink): Medium {
  return new Proxy(medium, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      if (name !== ('onMessage' satisfies Heard) && name !== ('listen' satisfies Heard))
        return value.bind(target);
      return (listener: (message: unknown) => void) =>
        value.call(target, (message: unknown) => link.carry(message, listener));
    },
  });
}
