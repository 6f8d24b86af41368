import { createHash } from 'node:crypto';
import type { z } from 'zod';
import type { AgentCard } from '../protocol/agent-card.ts';
import { invalidOptions } from '../protocol/errors.ts';
import { parseOptions } from '../protocol/parse-options.ts';
import type { Clock } from '../protocol/seams.ts';
import { CardBookOptions } from './card-book-options.ts';
import type { CardAnswer, CardDigest } from './card-digest.ts';
import { CARD_REFUSALS, type CardRefusal, type CardRefusalCode } from './card-refusal.ts';
import { CardStore, type HeldCard, type HeldNode } from './card-store.ts';
import { CardVerifications } from './card-verifications.ts';
import { type CardVersion, compareVersions, versionOf } from './card-version.ts';
import {
  isProved,
  NodeId,
  openCard,
  parseSignedCard,
  PublicKey,
  type ReadCard,
  readSignedCard,
  type SignedCard,
} from './signed-card.ts';

/** How often a book looks for what has expired, unless it is told to. */
const EXPIRE_EVERY_MS = 1_000;

/** A card that is valid now. `bootEpoch`: of the run of its node that signed it. */
export interface KnownCard {
  readonly nodeId: string;
  readonly publicKey: string;
  readonly bootEpoch: number;
  readonly card: AgentCard;
  readonly expiresAtMs: number;
}

/** A node that a book knows, and how many of its cards are valid now. `broughtBy`: itself, or who brought its first card. */
export interface KnownNode extends Pick<HeldNode, 'nodeId' | 'publicKey' | 'bootEpoch' | 'broughtBy'> {
  readonly cards: number;
}

/** Why a card is there no longer. `restarted`: its node has started again since. `displaced`: a node with a known key needs the room. */
export type CardLoss = 'withdrawn' | 'expired' | 'restarted' | 'forgotten' | 'displaced';

export interface CardLostChange {
  readonly type: 'card.lost';
  readonly nodeId: string;
  readonly agentId: string;
  readonly why: CardLoss;
}

/** A card of another node came, or went. `card.renewed`: it is the same card, and only valid for longer. */
export type CardChange = ({ readonly type: 'card.taken' | 'card.renewed' } & KnownCard) | CardLostChange;

/**
 * - `admits`    whether cards of this key are wanted under this name; asked before anything that costs. @default all are
 * - `takesOver` whether a key may take the name of a node from another key, without `setKey`. @default none may
 * - `onChange`  is told when the book is as it says.
 * - `onRefused` is told of each card that is not taken.
 */
export interface CardBookDeps {
  readonly clock: Pick<Clock, 'now' | 'monotonicMs'>;
  readonly admits?: (nodeId: string, publicKey: string) => boolean;
  readonly takesOver?: (nodeId: string, keys: { readonly by: string; readonly from: string }) => boolean;
  readonly onChange?: (change: CardChange) => void;
  readonly onRefused?: (refusal: CardRefusal) => void;
}

type Limits = z.output<typeof CardBookOptions>;
type Refused = readonly [code: CardRefusalCode, reason: string];

/**
 * The agents of all nodes, as these announce them and as peers hand it on (gossip). Of each agent it has the newest card, by boot
 * epoch and revision. A card of a later run of a node ends all cards of the runs before.
 *
 * A name of a node belongs to the key that the owner gave it; else to the key that came first, for as long as cards of it could
 * be valid. Two books that heard the same cards while these were valid, and had room for them, hold the same.
 */
export class CardBook {
  readonly #limits: Limits;
  readonly #deps: CardBookDeps;
  readonly #store = new CardStore();
  readonly #keys: Map<string, string>;
  readonly #verifications: CardVerifications;
  readonly #refusals = new Map<CardRefusalCode, number>(CARD_REFUSALS.map((code) => [code, 0]));
  #expiredAtMs: number;

  /** Throws INVALID_OPTIONS naming the option that is wrong. */
  constructor(options: CardBookOptions, deps: CardBookDeps) {
    const limits = parseOptions(CardBookOptions, options, 'cards');
    this.#limits = limits;
    this.#deps = deps;
    this.#keys = new Map(Object.entries(limits.keys));
    this.#verifications = new CardVerifications(
      deps.clock,
      limits.verificationsPerSecond,
      limits.verificationBurst,
    );
    this.#expiredAtMs = deps.clock.now();
  }

  /** Cards of all nodes, this one too, and what is remembered of expired ones. */
  get size(): number {
    return this.#store.size;
  }

  /** Bytes of other nodes' cards. */
  get bytes(): number {
    return this.#store.bytes - (this.#own?.bytes ?? 0);
  }

  /** How many cards were refused, by reason. */
  get refusals(): ReadonlyMap<CardRefusalCode, number> {
    return this.#refusals;
  }

  /** The other nodes, by their names. */
  nodes(): readonly KnownNode[] {
    return this.#store
      .nodes()
      .filter(({ nodeId }) => nodeId !== this.#limits.nodeId)
      .map(({ nodeId, publicKey, bootEpoch, broughtBy, names }) => ({
        nodeId,
        publicKey,
        bootEpoch,
        broughtBy,
        cards: this.#known(names).length,
      }))
      .sort((one, other) => inOrder(one.nodeId, other.nodeId));
  }

  /** Adds a card of this node, for the others. Throws INVALID_OPTIONS if it is not signed by this node, or not newer. */
  announce(signed: SignedCard): void {
    const read = readSignedCard(signed);
    if (typeof read === 'string') throw invalidOptions('signedCard', signed, `a signed card: ${read}`);
    const { nodeId, publicKey } = this.#limits;
    if (signed.nodeId !== nodeId || signed.publicKey !== publicKey)
      throw invalidOptions('signedCard.nodeId', signed.nodeId, `"${nodeId}" under the key "${publicKey}"`);
    const refused = this.#ofAge(signed) ?? this.#newer(signed);
    if (refused !== undefined)
      throw invalidOptions('signedCard', signed.agentId, `a card to add: ${refused[1]}`);
    this.#put(read, publicKey);
  }

  /**
   * Takes a card that a peer brought, or says why not. What is cheap is checked first, the signature last.
   *
   * @param peer who brought it, such as the key of the other end of the channel
   */
  take(value: unknown, peer: string): CardRefusal | undefined {
    if (this.#isExpiryDue()) this.expire();
    const refused = this.#tryToTake(value, peer);
    if (refused === undefined) return undefined;
    const [code, reason] = refused;
    const refusal = { code, reason, peer };
    this.#refusals.set(code, (this.#refusals.get(code) ?? 0) + 1);
    this.#deps.onRefused?.(refusal);
    return refusal;
  }

  /**
   * The agents of other nodes with this id: nodes whose keys the owner gave come first, then all by their names. An id with `/`
   * is a node's name and the agent's own id, so it names one at most.
   */
  find(agentId: string): readonly KnownCard[] {
    const names = agentId.includes('/') ? [agentId] : this.#store.namesOfAgent(agentId);
    return this.#known(names);
  }

  /** The agents of other nodes that offer a capability: in the order of `find`, then by their ids. */
  findByCapability(capabilityId: string): readonly KnownCard[] {
    return this.#known(this.#store.namesWithCapability(capabilityId));
  }

  /** The card that another node has announced last, of those that are valid now. */
  newestOf(nodeId: string): KnownCard | undefined {
    const nowMs = this.#deps.clock.now();
    let newest: HeldCard | undefined;
    for (const name of this.#store.node(nodeId)?.names ?? []) {
      const held = this.#store.get(name);
      if (held?.card === undefined || held.expiresAtMs <= nowMs) continue;
      if (newest === undefined || compareVersions(held.version, newest.version) > 0) newest = held;
    }
    return newest && this.#known([newest.name])[0];
  }

  /** The same in two books that have the same cards: then there is nothing to exchange. 32 bytes in base64url. */
  fingerprint(): string {
    const hash = createHash('sha256');
    for (const { name, version } of this.#validBetween(undefined, undefined))
      hash.update(JSON.stringify([name, version]));
    return hash.digest('base64url');
  }

  /** Which cards this book has behind a name, for another book's `missingFrom`. */
  digest(after?: string): CardDigest {
    const { pageCards, pageBytes } = this.#limits;
    const cards: CardDigest['cards'] = [];
    const from = after === undefined ? {} : { after };
    let bytes = 0;
    for (const { name, version, nodeId } of this.#validBetween(after, undefined)) {
      const publicKey = this.#store.node(nodeId)?.publicKey ?? '';
      const one = { name, publicKey, ...version };
      bytes += jsonBytes(one);
      const last = cards.at(-1);
      if (last !== undefined && (cards.length === pageCards || bytes > pageBytes))
        return { ...from, through: last.name, cards };
      cards.push(one);
    }
    return { ...from, cards };
  }

  /**
   * What this book has, in the part of a digest, that is missing there or older. It has no more than one page.
   *
   * @param asker the key of who asks: its own cards it knows better. @default nobody's
   */
  missingFrom({ after, through, cards: theirs }: CardDigest, asker?: string): CardAnswer {
    const { pageCards, pageBytes } = this.#limits;
    const has = new Map(theirs.map((one) => [one.name, one]));
    const cards: SignedCard[] = [];
    let bytes = 0;
    let last: string | undefined;
    for (const held of this.#validBetween(after, through)) {
      if (held.signed.publicKey === asker || !this.#isMissing(held, has.get(held.name))) continue;
      bytes += held.bytes;
      if (last !== undefined && (cards.length === pageCards || bytes > pageBytes))
        return { cards, through: last };
      cards.push(held.signed);
      last = held.name;
    }
    return through === undefined ? { cards } : { cards, through };
  }

  /** Forgets a node: its cards, its key and its runs. A key that the owner gave stays. */
  forget(nodeId: string): void {
    this.#tellLost(this.#store.dropNode(nodeId), 'forgotten');
  }

  /** Forgets a key: the names that it was given, and the nodes that are known by it. */
  forgetKey(publicKey: string): void {
    for (const [nodeId, key] of [...this.#keys]) if (key === publicKey) this.#keys.delete(nodeId);
    for (const node of this.#store.nodes())
      if (node.publicKey === publicKey && node.nodeId !== this.#limits.nodeId) this.forget(node.nodeId);
  }

  /** Gives a node the key that alone counts from now on; undefined: whoever comes first. Who holds the name by another is forgotten. */
  setKey(nodeId: string, publicKey: string | undefined): void {
    if (publicKey === undefined) {
      this.#keys.delete(nodeId);
      return;
    }
    if (nodeId === this.#limits.nodeId)
      throw invalidOptions('nodeId', nodeId, 'the name of another node than this one');
    parseOptions(NodeId, nodeId, 'nodeId');
    this.#keys.set(nodeId, parseOptions(PublicKey, publicKey, 'publicKey'));
    if (this.#store.node(nodeId)?.publicKey !== publicKey) this.forget(nodeId);
  }

  /** Lets go of what has expired. Until then it takes room, but nobody is shown it. */
  expire(): void {
    this.#expiredAtMs = this.#deps.clock.now();
    this.#tellLost(this.#store.expire(this.#expiredAtMs), 'expired');
  }

  get #own(): HeldNode | undefined {
    return this.#store.node(this.#limits.nodeId);
  }

  /** A clock that was set back counts as due. */
  #isExpiryDue(): boolean {
    const sinceMs = this.#deps.clock.now() - this.#expiredAtMs;
    return sinceMs >= EXPIRE_EVERY_MS || sinceMs < 0;
  }

  #tryToTake(value: unknown, peer: string): Refused | undefined {
    const signed = parseSignedCard(value);
    if (typeof signed === 'string') return ['MALFORMED', signed];
    const refused =
      this.#owned(signed) ?? this.#ofAge(signed) ?? this.#newer(signed) ?? this.#fitting(signed, peer);
    if (refused !== undefined) return refused;
    const { nodeId, agentId, publicKey } = signed;
    if (!this.#verifications.take(peer))
      return ['TOO_MANY', `"${peer}" brings more cards than are checked in its name`];
    if (!isProved(signed))
      return ['FORGED', `"${nodeId}/${agentId}" is not signed by the key "${publicKey}"`];
    const read = openCard(signed);
    if (typeof read === 'string') return ['INVALID_CARD', read];
    if ((this.#keyOf(nodeId) ?? publicKey) !== publicKey) this.setKey(nodeId, publicKey);
    if (!this.#makeRoom(signed)) return ['BOOK_FULL', `There is no room for "${nodeId}/${agentId}"`];
    this.#put(read, peer);
    return undefined;
  }

  /** Whether its name is that of its key. */
  #owned({ nodeId, publicKey }: SignedCard): Refused | undefined {
    const own = this.#limits;
    if (nodeId === own.nodeId || publicKey === own.publicKey)
      return ['OWN_NODE', `"${nodeId}" under the key "${publicKey}" is this node, or says so`];
    const key = this.#keyOf(nodeId);
    const isAnother = key !== undefined && key !== publicKey;
    if (isAnother && this.#deps.takesOver?.(nodeId, { by: publicKey, from: key }) !== true)
      return ['OTHER_KEY', `"${nodeId}" has the key "${key}", not "${publicKey}"`];
    if (this.#deps.admits?.(nodeId, publicKey) === false)
      return ['NOT_ADMITTED', `"${nodeId}" under the key "${publicKey}" is not admitted`];
    return undefined;
  }

  #keyOf(nodeId: string): string | undefined {
    return this.#keys.get(nodeId) ?? this.#store.node(nodeId)?.publicKey;
  }

  #ofAge({ issuedAtMs, expiresAtMs }: SignedCard): Refused | undefined {
    const nowMs = this.#deps.clock.now();
    const { maxLifetimeMs, clockSkewMs } = this.#limits;
    if (expiresAtMs <= nowMs) return ['EXPIRED', `It was valid until ${expiresAtMs}, and now it is ${nowMs}`];
    if (issuedAtMs > nowMs + clockSkewMs)
      return ['ISSUED_LATER', `It is issued at ${issuedAtMs}, more than ${clockSkewMs} ms after ${nowMs}`];
    const lifetimeMs = expiresAtMs - issuedAtMs;
    if (lifetimeMs > maxLifetimeMs)
      return ['LIVES_TOO_LONG', `It is valid for ${lifetimeMs} ms, more than ${maxLifetimeMs}`];
    return undefined;
  }

  #newer(signed: SignedCard): Refused | undefined {
    const { bootEpoch = 0 } = this.#store.node(signed.nodeId) ?? {};
    if (signed.bootEpoch < bootEpoch)
      return [
        'OUTDATED',
        `It is of boot epoch ${signed.bootEpoch}, and "${signed.nodeId}" runs in ${bootEpoch}`,
      ];
    const held = this.#store.get(nameOf(signed));
    if (held === undefined) return undefined;
    const order = compareVersions(versionOf(signed), held.version);
    if (order === 0) return ['KNOWN', `"${held.name}" is known`];
    return order > 0 ? undefined : ['OUTDATED', `There is a newer card of "${held.name}"`];
  }

  /** Whether there is room. For a node whose key the owner gave, others make room in the book. */
  #fitting(signed: SignedCard, peer: string): Refused | undefined {
    const { maxCardsPerNode, maxBytesPerNode, maxNodesPerPeer, maxBytesPerPeer } = this.#limits;
    const { nodeId } = signed;
    const { cards, nodeBytes, addedBytes } = this.#with(signed);
    if (cards > maxCardsPerNode || nodeBytes > maxBytesPerNode)
      return ['NODE_FULL', `"${nodeId}" would have ${cards} cards of ${nodeBytes} bytes`];
    if (this.#keys.has(nodeId)) return undefined;
    const node = this.#store.node(nodeId);
    const bringer = node?.broughtBy ?? peer;
    const brought = this.#store.broughtBy(bringer);
    const isOneMore = node === undefined && brought.nodes >= maxNodesPerPeer;
    if (isOneMore || (addedBytes > 0 && brought.bytes + addedBytes > maxBytesPerPeer))
      return ['PEER_FULL', `"${bringer}" has brought ${brought.nodes} nodes of ${brought.bytes} bytes`];
    return this.#exceeds(signed) ? ['BOOK_FULL', `There is no room for "${nodeId}"`] : undefined;
  }

  /** What the book would count with this card, and without what it ends. */
  #with(signed: SignedCard) {
    const node = this.#store.node(signed.nodeId);
    const isNewRun = node !== undefined && signed.bootEpoch > node.bootEpoch;
    const held = this.#store.get(nameOf(signed));
    const endedBytes = isNewRun ? node.bytes : (held?.bytes ?? 0);
    const others = isNewRun ? 0 : (node?.names.size ?? 0) - (held === undefined ? 0 : 1);
    const addedBytes = jsonBytes(signed) - endedBytes;
    const ownNodes = this.#own === undefined ? 0 : 1;
    return {
      cards: others + 1,
      nodeBytes: (node?.bytes ?? 0) + addedBytes,
      addedBytes,
      nodes: this.#store.nodeCount - ownNodes + (node === undefined ? 1 : 0),
      bytes: this.bytes + addedBytes,
    };
  }

  #exceeds(signed: SignedCard): boolean {
    const { nodes, bytes } = this.#with(signed);
    return nodes > this.#limits.maxNodes || bytes > this.#limits.maxBytes;
  }

  /** Forgets nodes until the card fits, those that came last first, and none whose key the owner gave. */
  #makeRoom(signed: SignedCard): boolean {
    while (this.#exceeds(signed)) {
      const last = this.#store.nodes().findLast(({ nodeId }) => this.#mayMakeRoom(nodeId));
      if (last === undefined) return false;
      this.#tellLost(this.#store.dropNode(last.nodeId), 'displaced');
    }
    return true;
  }

  #mayMakeRoom(nodeId: string): boolean {
    return nodeId !== this.#limits.nodeId && !this.#keys.has(nodeId);
  }

  #put({ signed, card }: ReadCard, broughtBy: string): void {
    const { nodeId, agentId, publicKey, bootEpoch, issuedAtMs, expiresAtMs } = signed;
    const name = nameOf(signed);
    const former = this.#store.get(name);
    const ended = this.#store.dropBefore(nodeId, bootEpoch).filter((held) => held.name !== name);
    const held = {
      name,
      nodeId,
      agentId,
      version: versionOf(signed),
      bytes: jsonBytes(signed),
      expiresAtMs,
      forgetAtMs: issuedAtMs + this.#limits.maxLifetimeMs,
      signed,
      card,
    };
    this.#store.put(held, { publicKey, broughtBy });
    if (former !== undefined && card === undefined) this.#tellLost([former], 'withdrawn');
    this.#tellLost(ended, 'restarted');
    if (card === undefined || nodeId === this.#limits.nodeId) return;
    const isSame = former?.signed?.card === signed.card && former?.version.bootEpoch === bootEpoch;
    this.#deps.onChange?.({
      type: isSame ? 'card.renewed' : 'card.taken',
      nodeId,
      publicKey,
      bootEpoch,
      card,
      expiresAtMs,
    });
  }

  #tellLost(cards: readonly HeldCard[], why: CardLoss): void {
    for (const { nodeId, agentId, card } of cards)
      if (card !== undefined && nodeId !== this.#limits.nodeId)
        this.#deps.onChange?.({ type: 'card.lost', nodeId, agentId, why });
  }

  #known(names: Iterable<string>): readonly KnownCard[] {
    const nowMs = this.#deps.clock.now();
    const found: KnownCard[] = [];
    for (const name of names) {
      const held = this.#store.get(name);
      const node = held && this.#store.node(held.nodeId);
      if (held?.card === undefined || node === undefined || held.expiresAtMs <= nowMs) continue;
      const { nodeId, card, expiresAtMs, version } = held;
      if (nodeId === this.#limits.nodeId) continue;
      found.push({ nodeId, publicKey: node.publicKey, bootEpoch: version.bootEpoch, card, expiresAtMs });
    }
    return found.sort((one, other) => this.#compare(one, other));
  }

  #compare(one: KnownCard, other: KnownCard): number {
    const known = Number(this.#keys.has(other.nodeId)) - Number(this.#keys.has(one.nodeId));
    return known || inOrder(one.nodeId, other.nodeId) || inOrder(one.card.id, other.card.id);
  }

  *#validBetween(
    after: string | undefined,
    through: string | undefined,
  ): Iterable<HeldCard & { readonly signed: SignedCard }> {
    const nowMs = this.#deps.clock.now();
    for (const name of this.#store.namesBetween(after, through)) {
      const held = this.#store.get(name);
      if (held?.signed !== undefined && held.expiresAtMs > nowMs) yield { ...held, signed: held.signed };
    }
  }

  /** What the other one holds under another key it would not take. */
  #isMissing(
    { nodeId, version }: HeldCard,
    theirs: (CardVersion & { publicKey: string }) | undefined,
  ): boolean {
    if (theirs === undefined) return true;
    return theirs.publicKey === this.#store.node(nodeId)?.publicKey && compareVersions(version, theirs) > 0;
  }
}

const nameOf = ({ nodeId, agentId }: SignedCard): string => `${nodeId}/${agentId}`;

/** By code units. */
const inOrder = (one: string, other: string): number => (one < other ? -1 : Number(one > other));

const jsonBytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));
