import type { AgentCard, AgentEndpoint } from '../protocol/agent-card.ts';
import { reasonOf } from '../protocol/errors.ts';
import { isSystemId } from '../protocol/policy.ts';
import type { Clock } from '../protocol/seams.ts';
import type { RemoteQuery } from '../routing/remote-lookup.ts';
import { CardAnnouncer } from './card-announcer.ts';
import { CardBook, type CardChange, type CardLostChange, type KnownCard } from './card-book.ts';
import { CardExchange, type CardExchangeUser } from './card-exchange.ts';
import type { CardAnswer, CardDigest } from './card-digest.ts';
import type { CardRefusal } from './card-refusal.ts';
import type { CardMessage } from './peer-message.ts';
import type { OwnIdentity } from './peer-node.ts';
import type { PeerSession } from './peer-session.ts';
import type { SignedCard } from './signed-card.ts';
import type { Trust } from './trust.ts';

/** Between two looks at what is due. */
const TICK_MS = 5_000;
/** New cards of so long go together. */
const TELL_MS = 50;
/** How long a fingerprint holds though no card came: cards expire. */
const FINGERPRINT_MS = 1_000;
/** Own agents that are announced: other nodes take no more. */
const MAX_ANNOUNCED = 1_000;
/** Pages that leave room for what else a session carries. */
const PAGE = { pageCards: 400, pageBytes: 65_536 };

/** Whoever needs to know what is said about nodes that are not here. */
export interface GossipUser {
  /** Whether cards of this key are wanted under this name. */
  admits(node: string, publicKey: string): boolean;
  /** Whether a key takes over the name of another. */
  takesOver(node: string, keys: { readonly by: string; readonly from: string }): boolean;
  /** A card came that was not known, or it says something new. */
  onCard(card: KnownCard): void;
  /** A card that was known is not valid any more. */
  onCardLost?(change: CardLostChange): void;
  /** All that the nodes here know was asked for. */
  onRoundOver(): void;
  /** A node has brought what is not taken, and before that `more` of the same kind. */
  onRefused(refusal: CardRefusal, more: number, session: PeerSession): void;
  /** A card of an agent here cannot be announced. */
  onProblem(reason: string): void;
}

export interface PeerGossipDeps {
  readonly self: Pick<OwnIdentity, 'node' | 'keys' | 'epoch'>;
  readonly clock: Clock;
  readonly user: GossipUser;
}

/**
 * What this node and others tell each other of agents of all nodes, by signed cards (gossip). A card says where its node is, and
 * makes nobody a member of the team: that does a session with the node itself.
 */
export class PeerGossip implements CardExchangeUser {
  readonly #deps: PeerGossipDeps;
  readonly #book: CardBook;
  readonly #announcer: CardAnnouncer;
  readonly #exchanges = new Map<PeerSession, CardExchange>();
  /** Revisions of own cards that are announced, by their agents. */
  readonly #announced = new Map<string, number>();
  #fingerprint: { readonly text: string; readonly atMs: number } | undefined;
  #stopTick: () => void = () => undefined;
  #stopTelling: (() => void) | undefined;

  constructor(deps: PeerGossipDeps) {
    this.#deps = deps;
    const { self, clock, user } = deps;
    const { node: nodeId, keys } = self;
    this.#book = new CardBook(
      { nodeId, publicKey: keys.publicKey, ...PAGE },
      {
        clock,
        admits: (node, publicKey) => user.admits(node, publicKey),
        takesOver: (node, by) => user.takesOver(node, by),
        onChange: (change) => this.#changed(change),
      },
    );
    this.#announcer = new CardAnnouncer({ nodeId, bootEpoch: self.epoch }, { keys, clock, book: this.#book });
    this.#tickLater();
  }

  /** What nodes in session know is still being asked for the first time. */
  get isBeginning(): boolean {
    for (const { isBeginning } of this.#exchanges.values()) if (isBeginning) return true;
    return false;
  }

  /** Cards in the book, and bytes of other nodes' cards. */
  get size(): { readonly cards: number; readonly bytes: number } {
    return { cards: this.#book.size, bytes: this.#book.bytes };
  }

  /** The agents here, as they are now: what has changed is told. `endpoints`: where this node is. @default what each card says */
  announce(cards: readonly AgentCard[], endpoints?: readonly AgentEndpoint[]): void {
    const own = cards.filter(({ id }) => !isSystemId(id)).slice(0, MAX_ANNOUNCED);
    const ids = new Set(own.map(({ id }) => id));
    for (const id of [...this.#announced.keys()]) {
      if (ids.has(id)) continue;
      this.#announced.delete(id);
      this.#spread(this.#announcer.withdraw(id));
    }
    for (const card of own) {
      if (this.#announced.get(card.id) === card.revision) continue;
      this.#announced.set(card.id, card.revision);
      try {
        this.#spread(this.#announcer.announce({ ...card, endpoints: [...(endpoints ?? card.endpoints)] }));
      } catch (error) {
        this.#deps.user.onProblem(`the card of ${card.id} is not announced: ${reasonOf(error)}`);
      }
    }
  }

  /** A session with a node, which has proved its key. */
  join(node: string, session: PeerSession): void {
    if (session.isOver || this.#exchanges.has(session)) return;
    this.#book.setKey(node, session.publicKey);
    this.#exchanges.set(session, new CardExchange(session, this.#deps.clock, this));
    session.whenOver(() => {
      this.#exchanges.delete(session);
      this.#deps.user.onRoundOver();
    });
  }

  hear(message: CardMessage, session: PeerSession): void {
    this.#exchanges.get(session)?.hear(message);
  }

  /** The agents of other nodes that fit. */
  find({ kind, id }: RemoteQuery): readonly KnownCard[] {
    return kind === 'agent' ? this.#book.find(id) : this.#book.findByCapability(id);
  }

  /** Where a node is, as the newest of its cards says; nowhere when all have expired. */
  endpointsOf(node: string): readonly AgentEndpoint[] {
    return this.#book.newestOf(node)?.card.endpoints ?? [];
  }

  /** Whom this node trusts from now on: names that are given to one key alone are kept for it. */
  trust(entries: readonly Trust[]): void {
    const named = entries.filter(({ key, node }) => key !== '*' && node !== undefined);
    for (const { key, node = '' } of named)
      if (node !== this.#deps.self.node && named.filter((other) => other.node === node).length === 1)
        this.#book.setKey(node, key);
    this.#fingerprint = undefined;
    for (const exchange of this.#exchanges.values()) exchange.askAgain();
  }

  /** This key is trusted no more: all that it has signed is forgotten. */
  forget(publicKey: string): void {
    this.#book.forgetKey(publicKey);
    this.#fingerprint = undefined;
  }

  close(): void {
    this.#stopTick();
    this.#stopTelling?.();
  }

  // What the exchanges use

  fingerprint(): string {
    const atMs = this.#deps.clock.monotonicMs();
    if (this.#fingerprint === undefined || atMs - this.#fingerprint.atMs >= FINGERPRINT_MS)
      this.#fingerprint = { text: this.#book.fingerprint(), atMs };
    return this.#fingerprint.text;
  }

  digest(after: string | undefined): CardDigest {
    return this.#book.digest(after);
  }

  missingFrom(digest: CardDigest, asker: string): CardAnswer {
    return this.#book.missingFrom(digest, asker);
  }

  take(card: unknown, session: PeerSession): CardRefusal | undefined {
    const refusal = this.#book.take(card, session.publicKey);
    if (refusal === undefined) this.#spread(card as SignedCard, session);
    return refusal;
  }

  onRefused(refusal: CardRefusal, more: number, session: PeerSession): void {
    this.#deps.user.onRefused(refusal, more, session);
  }

  onRoundOver(): void {
    this.#deps.user.onRoundOver();
  }

  #changed(change: CardChange): void {
    if (change.type === 'card.taken') this.#deps.user.onCard(change);
    else if (change.type === 'card.lost') this.#deps.user.onCardLost?.(change);
  }

  /** Tells all of a card that is new here, but for whoever brought it. */
  #spread(signed: SignedCard | undefined, from?: PeerSession): void {
    if (signed === undefined) return;
    this.#fingerprint = undefined;
    for (const [session, exchange] of this.#exchanges) if (session !== from) exchange.add(signed);
    this.#stopTelling ??= this.#deps.clock.setTimer(TELL_MS, () => {
      this.#stopTelling = undefined;
      for (const exchange of this.#exchanges.values()) exchange.tell();
    });
  }

  #tickLater(): void {
    this.#stopTick = this.#deps.clock.setTimer(TICK_MS, () => {
      this.#book.expire();
      for (const signed of this.#announcer.renew()) this.#spread(signed);
      for (const exchange of this.#exchanges.values()) exchange.tick();
      this.#tickLater();
    });
  }
}
