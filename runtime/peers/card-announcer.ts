import { z } from 'zod';
import type { AgentCard } from '../protocol/agent-card.ts';
import { Milliseconds } from '../protocol/milliseconds.ts';
import { parseOptions } from '../protocol/parse-options.ts';
import type { Clock } from '../protocol/seams.ts';
import type { SigningKeyPair } from '../protocol/signing.ts';
import type { CardBook } from './card-book.ts';
import { NodeId, type CardTerms, signCard, type SignedCard, signWithdrawal } from './signed-card.ts';

/**
 * - `bootEpoch`  greater than in every run of this node before: a number that is kept, or the time of the start.
 * - `lifetimeMs` how long a card is valid; it is signed again when half of that is over. No more than `maxLifetimeMs` of the
 *                books that are to take it. @default 600_000
 */
export const CardAnnouncerOptions = z.strictObject({
  nodeId: NodeId,
  bootEpoch: z.int().nonnegative(),
  lifetimeMs: Milliseconds.int().default(600_000),
});
export type CardAnnouncerOptions = z.input<typeof CardAnnouncerOptions>;

export interface CardAnnouncerDeps {
  readonly keys: SigningKeyPair;
  readonly clock: Pick<Clock, 'now'>;
  /** The book of this node, which hands on what is signed. */
  readonly book: Pick<CardBook, 'announce'>;
}

interface Announced {
  readonly card: AgentCard;
  readonly signed: SignedCard;
}

/** Signs the cards of this node's agents in one run of it, and puts them in its book. */
export class CardAnnouncer {
  readonly #options: z.output<typeof CardAnnouncerOptions>;
  readonly #deps: CardAnnouncerDeps;
  readonly #announced = new Map<string, Announced>();
  /** One for all agents: so it need not be remembered for those that are withdrawn. */
  #nextRevision = 0;

  /** Throws INVALID_OPTIONS naming the option that is wrong. */
  constructor(options: CardAnnouncerOptions, deps: CardAnnouncerDeps) {
    this.#options = parseOptions(CardAnnouncerOptions, options, 'announcer');
    this.#deps = deps;
  }

  /** The signed card, to be sent at once to whom that concerns; undefined if that very card is announced already. */
  announce(card: AgentCard): SignedCard | undefined {
    const before = this.#announced.get(card.id);
    const signed = signCard(card, this.#terms(), this.#deps.keys);
    if (before?.signed.card === signed.card) return undefined;
    return this.#keep(card, signed);
  }

  /** The withdrawal; undefined if the agent is not announced. */
  withdraw(agentId: string): SignedCard | undefined {
    if (!this.#announced.has(agentId)) return undefined;
    const signed = this.#put(signWithdrawal(agentId, this.#terms(), this.#deps.keys));
    this.#announced.delete(agentId);
    return signed;
  }

  /** Signs again what has lived half of its time. To be called several times in that: a timer of a tenth of it is often enough. */
  renew(): readonly SignedCard[] {
    const untilMs = this.#deps.clock.now() + this.#options.lifetimeMs / 2;
    return [...this.#announced.values()]
      .filter(({ signed }) => signed.expiresAtMs <= untilMs)
      .map(({ card }) => this.#keep(card, signCard(card, this.#terms(), this.#deps.keys)));
  }

  #keep(card: AgentCard, signed: SignedCard): SignedCard {
    this.#announced.set(card.id, { card, signed: this.#put(signed) });
    return signed;
  }

  #put(signed: SignedCard): SignedCard {
    this.#deps.book.announce(signed);
    this.#nextRevision += 1;
    return signed;
  }

  #terms(): CardTerms {
    const { nodeId, bootEpoch, lifetimeMs } = this.#options;
    const issuedAtMs = this.#deps.clock.now();
    return {
      nodeId,
      bootEpoch,
      revision: this.#nextRevision,
      issuedAtMs,
      expiresAtMs: issuedAtMs + lifetimeMs,
    };
  }
}
