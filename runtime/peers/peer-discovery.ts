import type { AgentCard } from '../protocol/agent-card.ts';
import { agentNotFound, cancelled } from '../protocol/errors.ts';
import type { Seams } from '../protocol/seams.ts';
import type { SigningKeyPair } from '../protocol/signing.ts';
import type { SystemEvent } from '../protocol/system-event.ts';
import type { DiscoveryManager, FoundCard, LostCard } from '../routing/discovery.ts';
import type { CardLostChange, KnownCard } from './card-book.ts';
import { badCardEvent, type CardRefusal, refusedCardEvent } from './card-refusal.ts';
import type { CardMessage, PeerRequest } from './peer-message.ts';
import { PeerGossip, type GossipUser } from './peer-gossip.ts';
import { type PeerNetwork, PeerNode, type PeerNodeUser } from './peer-node.ts';
import type { PeerSession, ServedRequest } from './peer-session.ts';
import { grantBy, mayBeCalled, type Trust } from './trust.ts';
import type { TrustBook } from './trust-book.ts';

/**
 * - `node`    the name of this node.
 * - `keys`    resolves to what proves it.
 * - `trusts`  whose cards are taken, and how their agents are judged.
 * - `onEvent` is told of what was refused, and of channels with other nodes.
 */
export interface PeerDiscoveryDeps {
  readonly node: string;
  readonly keys: () => Promise<SigningKeyPair>;
  readonly trusts: TrustBook;
  readonly network: PeerNetwork;
  readonly seams: Seams;
  readonly onEvent: (event: SystemEvent) => void;
}

/**
 * Signed cards of agents, as nodes tell them each other, for a registry without a running system: a node that shows cards, and does
 * nothing that others ask. It speaks with running systems too.
 *
 * It listens from the first card on, or the first look at those of others, until `close`.
 */
export class PeerDiscovery implements DiscoveryManager, AsyncDisposable {
  readonly #deps: PeerDiscoveryDeps;
  readonly #own = new Map<string, AgentCard>();
  readonly #whenFound = new Set<(found: FoundCard) => void>();
  readonly #whenLost = new Set<(lost: LostCard) => void>();
  #opening: Promise<CardNode> | undefined;
  #isClosed = false;

  constructor(deps: PeerDiscoveryDeps) {
    this.#deps = deps;
  }

  /** Rejects when this node cannot listen, or is closed. */
  async announce(card: AgentCard): Promise<void> {
    const node = await this.#open();
    this.#own.set(card.id, card);
    node.announce([...this.#own.values()]);
  }

  async withdraw(agentId: string): Promise<void> {
    if (!this.#own.delete(agentId) || this.#isClosed) return;
    (await this.#open()).announce([...this.#own.values()]);
  }

  async pull(): Promise<readonly FoundCard[]> {
    return (await this.#open()).found();
  }

  onFound(listener: (found: FoundCard) => void): () => void {
    this.#whenFound.add(listener);
    return () => void this.#whenFound.delete(listener);
  }

  onLost(listener: (lost: LostCard) => void): () => void {
    this.#whenLost.add(listener);
    return () => void this.#whenLost.delete(listener);
  }

  /** Trusts this key no more: whoever has it is cut off at once, and its cards are lost. */
  async revoke(publicKey: string): Promise<void> {
    (await this.#open()).revoke(publicKey);
  }

  /** Ends what there is with other nodes. They forget the cards when these expire. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const node = await this.#opening?.catch(() => undefined);
    await node?.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #open(): Promise<CardNode> {
    if (this.#isClosed) return Promise.reject(cancelled('The discovery'));
    this.#opening ??= this.#begin().catch((error: unknown) => {
      this.#opening = undefined;
      throw error;
    });
    return this.#opening;
  }

  async #begin(): Promise<CardNode> {
    const node = new CardNode(this.#deps, await this.#deps.keys(), {
      onFound: (found) => {
        for (const tell of [...this.#whenFound]) tell(found);
      },
      onLost: (lost) => {
        for (const tell of [...this.#whenLost]) tell(lost);
      },
    });
    await node.open();
    return node;
  }
}

interface CardNodeUser {
  onFound(found: FoundCard): void;
  onLost(lost: LostCard): void;
}

/** A node that has cards, and no agents. */
class CardNode implements PeerNodeUser, GossipUser {
  readonly #deps: PeerDiscoveryDeps;
  readonly #user: CardNodeUser;
  readonly #node: PeerNode;
  readonly #gossip: PeerGossip;
  /** Valid cards of others, by node and agent. */
  readonly #known = new Map<string, KnownCard>();

  constructor(deps: PeerDiscoveryDeps, keys: SigningKeyPair, user: CardNodeUser) {
    this.#deps = deps;
    this.#user = user;
    const { node, trusts, network, seams, onEvent } = deps;
    const { clock, newSecret } = seams;
    const self = { node, keys, ...trusts, epoch: Math.floor(clock.now()), salt: newSecret() };
    this.#node = new PeerNode({ self, network, seams, user: this, log: onEvent });
    this.#gossip = new PeerGossip({ self, clock, user: this });
    this.#gossip.trust(this.#node.trusted);
  }

  async open(): Promise<void> {
    try {
      await this.#node.open();
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  announce(cards: readonly AgentCard[]): void {
    this.#gossip.announce(cards);
  }

  found(): readonly FoundCard[] {
    return [...this.#known.values()].flatMap((known) => this.#granted(known) ?? []);
  }

  revoke(publicKey: string): void {
    this.#node.revoke(publicKey);
    this.#gossip.forget(publicKey);
  }

  async close(): Promise<void> {
    this.#gossip.close();
    await this.#node.close();
  }

  // What other nodes say

  cards(): readonly AgentCard[] {
    return [];
  }

  serve({ n, envelope }: PeerRequest, session: PeerSession): ServedRequest {
    const { code, message } = agentNotFound(envelope.recipient);
    session.answer({ type: 'failed', n, error: { code, message } });
    return { pull: () => undefined, abort: () => undefined };
  }

  onUsed(session: PeerSession, { node }: { readonly node: string }): void {
    this.#gossip.join(node, session);
  }

  onCardMessage(message: CardMessage, session: PeerSession): void {
    this.#gossip.hear(message, session);
  }

  /** What others have beside signed cards is for systems that run. */
  onCards(): void {}
  onGone(): void {}
  onTerms(): void {}
  onFinding(): void {}
  onFailed(): void {}
  onStatus(): void {}
  onSessionOver(): void {}
  onCut(): void {}

  // What is said of cards

  admits(node: string, publicKey: string): boolean {
    return this.#node.grantOf(node, publicKey) !== undefined;
  }

  takesOver(node: string, keys: { readonly by: string; readonly from: string }): boolean {
    return this.#node.takesOver(node, keys);
  }

  onCard(known: KnownCard): void {
    this.#known.set(`${known.nodeId}/${known.card.id}`, known);
    const found = this.#granted(known);
    if (found !== undefined) this.#user.onFound(found);
  }

  onCardLost({ nodeId, agentId }: CardLostChange): void {
    this.#known.delete(`${nodeId}/${agentId}`);
    this.#user.onLost({ nodeId, agentId });
    // The id may be that of an agent of another node now.
    for (const other of this.#gossip.find({ kind: 'agent', id: agentId })) this.onCard(other);
  }

  onRoundOver(): void {}

  onRefused(refusal: CardRefusal, more: number, { publicKey }: PeerSession): void {
    const from = this.#node.peers.find(({ identity }) => identity.publicKey === publicKey)?.node ?? 'a node';
    const event = refusedCardEvent(refusal, { more, from, timestamp: this.#deps.seams.clock.now() });
    if (event !== undefined) this.#deps.onEvent(event);
  }

  onProblem(reason: string): void {
    this.#deps.onEvent(badCardEvent(reason, this.#deps.seams.clock.now()));
  }

  /** What it says of itself counts for nothing: how it is judged, its node was granted here. */
  #granted({ nodeId, publicKey, card }: KnownCard): FoundCard | undefined {
    const trust = this.#node.grantOf(nodeId, publicKey);
    if (trust === undefined || !mayBeCalled(trust, card.id)) return undefined;
    return { card: taintedBy(trust, nodeId, card), grant: grantBy(trust, nodeId) };
  }
}

function taintedBy({ trusted }: Trust, nodeId: string, { taint: _, ...card }: AgentCard): AgentCard {
  return trusted ? card : { ...card, taint: [`peer:${nodeId}`] };
}
