import type { Clock } from '../protocol/seams.ts';
import { type CardAnswer, type CardDigest, nextAfter } from './card-digest.ts';
import type { CardRefusal, CardRefusalCode } from './card-refusal.ts';
import type { CardMessage } from './peer-message.ts';
import type { PeerSession } from './peer-session.ts';
import type { SignedCard } from './signed-card.ts';

/** Between two rounds; where a round brings nothing, the next ones come ever later. */
const ROUND_MS = 10_000;
const MAX_ROUND_MS = 300_000;
/** What one round asks for at most: the next one goes on from there. */
const MAX_ROUND_PAGES = 32;
const MAX_ROUND_CARDS = 1_000;
/** How long an answer is awaited. */
const ANSWER_MS = 10_000;
/** How long a session counts as beginning, whatever the other end does. */
const BEGINNING_MS = 2_000;
/** New cards that wait to be told; a round finds those beyond. */
const MAX_NEWS = 1_000;
/** New cards that are told together, unless one alone is larger. */
const NEWS_BYTES = 65_536;
/** Messages that wait in a session that reads slowly: then it is told nothing more. */
const MAX_BACKLOG = 64;
/** Between two words on the same kind of refusal. */
const REFUSAL_MS = 60_000;

/** The book of this node, and who is told of what comes. */
export interface CardExchangeUser {
  /** Changes with every card that can be handed on. */
  fingerprint(): string;
  digest(after: string | undefined): CardDigest;
  missingFrom(digest: CardDigest, asker: string): CardAnswer;
  /** Takes a card that this session has brought, and hands it on to others. */
  take(card: unknown, session: PeerSession): CardRefusal | undefined;
  /** `more` like it were not told before. */
  onRefused(refusal: CardRefusal, more: number, session: PeerSession): void;
  /** Nothing is left to ask for at the moment. */
  onRoundOver(): void;
}

/** What is being asked for: pages, one after the other. */
interface Round {
  digest: CardDigest;
  askedAtMs: number;
  pages: number;
  cards: number;
  taken: number;
}

/**
 * The signed cards that two nodes hand each other over one session. News goes at once. Rounds find what was missed: whoever has
 * another fingerprint than the other end asks it, page by page.
 */
export class CardExchange {
  readonly #session: PeerSession;
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #user: CardExchangeUser;
  readonly #news = new Map<string, SignedCard>();
  readonly #refusals = new Map<CardRefusalCode, { toldAtMs: number; more: number }>();
  readonly #beganAtMs: number;
  #said: string | undefined;
  #theirs: string | undefined;
  #round: Round | undefined;
  /** Where the next round goes on; undefined: at the start. */
  #after: string | undefined;
  #isRoundWanted = false;
  #isBeginning = true;
  #nextRoundAtMs = 0;
  #everyMs = ROUND_MS;
  #answers = { sinceMs: 0, count: 0 };

  constructor(session: PeerSession, clock: Pick<Clock, 'monotonicMs'>, user: CardExchangeUser) {
    this.#session = session;
    this.#clock = clock;
    this.#user = user;
    this.#beganAtMs = clock.monotonicMs();
    this.#sayFingerprint();
  }

  /** The first round is not over. */
  get isBeginning(): boolean {
    return this.#isBeginning && this.#clock.monotonicMs() - this.#beganAtMs < BEGINNING_MS;
  }

  /** This card is new here: the other end is told soon. */
  add(signed: SignedCard): void {
    if (signed.publicKey === this.#session.publicKey) return;
    const name = nameOf(signed);
    if (this.#news.has(name) || this.#news.size < MAX_NEWS) this.#news.set(name, signed);
  }

  /** Tells what is new, unless the other end does not keep up. */
  tell(): void {
    if (this.#session.backlog > MAX_BACKLOG) return;
    let cards: SignedCard[] = [];
    let bytes = 0;
    for (const signed of this.#news.values()) {
      const more = JSON.stringify(signed).length;
      if (cards.length > 0 && bytes + more > NEWS_BYTES) {
        this.#say({ type: 'signed-cards', cards });
        cards = [];
        bytes = 0;
      }
      cards.push(signed);
      bytes += more;
    }
    if (cards.length > 0) this.#say({ type: 'signed-cards', cards });
    this.#news.clear();
  }

  /** Does what is due. To be called every few seconds. */
  tick(): void {
    this.tell();
    if (this.#round !== undefined && this.#clock.monotonicMs() - this.#round.askedAtMs >= ANSWER_MS)
      this.#endRound(this.#round, this.#round.digest.after);
    this.#sayFingerprint();
    this.#beginRound();
  }

  /** What was not wanted before is wanted now. */
  askAgain(): void {
    this.#isRoundWanted = this.#theirs !== undefined;
    this.#everyMs = ROUND_MS;
    this.#nextRoundAtMs = 0;
    this.#beginRound();
  }

  hear(message: CardMessage): void {
    switch (message.type) {
      case 'signed-cards':
        this.#take(message.cards);
        return;
      case 'card-fingerprint':
        this.#theirs = message.fingerprint;
        if (this.#isSame) this.#everyMs = ROUND_MS;
        this.#isRoundWanted = !this.#isSame;
        if (!this.#isRoundWanted) this.#hasBegun();
        this.#beginRound();
        return;
      case 'card-digest':
        this.#answer(message.digest);
        return;
      case 'card-answer':
        this.#answered(message.answer);
    }
  }

  get #isSame(): boolean {
    return this.#theirs === this.#user.fingerprint();
  }

  #sayFingerprint(): void {
    const fingerprint = this.#user.fingerprint();
    if (fingerprint === this.#said || this.#session.backlog > MAX_BACKLOG) return;
    this.#said = fingerprint;
    this.#say({ type: 'card-fingerprint', fingerprint });
  }

  #beginRound(): void {
    const nowMs = this.#clock.monotonicMs();
    if (!this.#isRoundWanted || this.#round !== undefined || nowMs < this.#nextRoundAtMs) return;
    if (this.#isSame) {
      this.#isRoundWanted = false;
      return;
    }
    this.#ask({ digest: { cards: [] }, askedAtMs: nowMs, pages: 0, cards: 0, taken: 0 }, this.#after);
  }

  #ask(round: Round, after: string | undefined): void {
    round.digest = this.#user.digest(after);
    round.askedAtMs = this.#clock.monotonicMs();
    this.#round = round;
    this.#say({ type: 'card-digest', digest: round.digest });
  }

  /** An answer that nobody asked for is none. */
  #answered(answer: CardAnswer): void {
    const round = this.#round;
    if (round === undefined) return;
    round.pages += 1;
    round.cards += answer.cards.length;
    round.taken += this.#take(answer.cards);
    const next = nextAfter(round.digest, answer);
    const isFull = round.pages >= MAX_ROUND_PAGES || round.cards >= MAX_ROUND_CARDS;
    if (next === undefined || isFull) this.#endRound(round, next);
    else this.#ask(round, next);
  }

  #endRound({ taken }: Round, next: string | undefined): void {
    this.#round = undefined;
    this.#after = next;
    this.#isRoundWanted = next !== undefined;
    // What the other end has more, and this one does not want, is not asked for again and again.
    this.#everyMs = taken > 0 ? ROUND_MS : Math.min(2 * this.#everyMs, MAX_ROUND_MS);
    this.#nextRoundAtMs = this.#clock.monotonicMs() + this.#everyMs;
    this.#hasBegun();
  }

  #hasBegun(): void {
    this.#isBeginning = false;
    this.#user.onRoundOver();
  }

  /** Whoever asks for more than rounds do, or does not read, gets no answer. */
  #answer(digest: CardDigest): void {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - this.#answers.sinceMs >= ROUND_MS) this.#answers = { sinceMs: nowMs, count: 0 };
    this.#answers.count += 1;
    if (this.#answers.count > MAX_ROUND_PAGES || this.#session.backlog > MAX_BACKLOG) return;
    this.#say({ type: 'card-answer', answer: this.#user.missingFrom(digest, this.#session.publicKey) });
  }

  /** Returns how many were taken. */
  #take(cards: readonly unknown[]): number {
    let taken = 0;
    for (const card of cards) {
      const refusal = this.#user.take(card, this.#session);
      if (refusal === undefined) taken += 1;
      // The other end has this one: it need not be told of it.
      if (refusal === undefined || refusal.code === 'KNOWN') this.#news.delete(nameOf(card as SignedCard));
      else this.#refused(refusal);
    }
    return taken;
  }

  #refused(refusal: CardRefusal): void {
    const nowMs = this.#clock.monotonicMs();
    const told = this.#refusals.get(refusal.code);
    if (told !== undefined && nowMs - told.toldAtMs < REFUSAL_MS) {
      told.more += 1;
      return;
    }
    this.#refusals.set(refusal.code, { toldAtMs: nowMs, more: 0 });
    this.#user.onRefused(refusal, told?.more ?? 0, this.#session);
  }

  #say(message: CardMessage): void {
    try {
      this.#session.say(message);
    } catch {
      // No frame of this session has room for a card as long as that: it is not handed on here.
    }
  }
}

const nameOf = ({ nodeId, agentId }: SignedCard): string => `${nodeId}/${agentId}`;
