import { z } from 'zod';
import { parseOptions } from '../protocol/parse-options.ts';
import type { Clock, Random } from '../protocol/seams.ts';

const Probability = z.number().min(0).max(1);

/**
 * The faults of a link between machines.
 *
 * - `loss`        probability that a message is lost. @default 0
 * - `duplication` probability that a message arrives twice. @default 0
 * - `ms`          range of the delay, milliseconds; a later message may arrive sooner. @default [1, 50]
 * - `keepsOrder`  whether messages keep their order. @default false
 */
export const LinkFaults = z.strictObject({
  loss: Probability.default(0),
  duplication: Probability.default(0),
  ms: z.tuple([z.number().nonnegative(), z.number().nonnegative()]).default([1, 50]),
  keepsOrder: z.boolean().default(false),
});
export type LinkFaults = z.input<typeof LinkFaults>;

/** What a faulty link runs on: `simulation.link()` gives it those of virtual time. */
export interface FaultyLinkDeps {
  readonly clock: Pick<Clock, 'monotonicMs' | 'setTimer'>;
  readonly random: Random;
}

/**
 * The messages of a link, by what happened to them. `cut` were lost because it was cut; `overtaken` arrived after a later
 * one.
 */
export interface LinkCounts {
  readonly carried: number;
  readonly lost: number;
  readonly duplicated: number;
  readonly overtaken: number;
  readonly cut: number;
}

/** A link that loses, repeats, delays and reorders messages, like one between machines. */
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

  /** Carries a message: calls `deliver` with it later, once, twice or never. */
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

  /** Loses everything that is sent in the next `ms` milliseconds. */
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

/** The methods by which a medium passes messages to listeners: `onMessage` of shared state, `listen` of negotiations. */
type ListenMethod = 'onMessage' | 'listen';

/** Wraps a medium: all messages that its listeners get go over the link. */
export function overLink<Medium extends object>(medium: Medium, link: FaultyLink): Medium {
  return new Proxy(medium, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      if (name !== ('onMessage' satisfies ListenMethod) && name !== ('listen' satisfies ListenMethod))
        return value.bind(target);
      return (listener: (message: unknown) => void) =>
        value.call(target, (message: unknown) => link.carry(message, listener));
    },
  });
}
