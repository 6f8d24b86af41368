import { ChannelManager } from '../channels/channel-manager.ts';
import type { A2AChannel } from '../channels/a2a-channel.ts';
import { type ChannelLogEvent, channelLogEvent } from '../channels/channel-event.ts';
import { ChannelOptions } from '../channels/channel-options.ts';
import { type ChannelProof, channelSigner, type ChannelSigner } from '../channels/channel-proof.ts';
import type { AskedChannel, HelloRefusal } from '../channels/credentials.ts';
import { outsiderOf } from '../mailbox/outsider.ts';
import { NodeId } from '../protocol/a2a-extension.ts';
import type { AgentCard, AgentEndpoint } from '../protocol/agent-card.ts';
import { type ErrorCode, reasonOf } from '../protocol/errors.ts';
import type { ChannelStatus } from '../protocol/channel-status.ts';
import type { RefusedPeer } from '../protocol/refused-peer.ts';
import type { ReceiveFinding } from '../protocol/receive-policy.ts';
import type { Seams } from '../protocol/seams.ts';
import type { SigningKeyPair } from '../protocol/signing.ts';
import type { Transport } from '../protocol/transport.ts';
import { Peer } from './peer.ts';
import type { PeerStatus } from './peer.machine.ts';
import { type ChannelGoal, PeerDialler } from './peer-dialler.ts';
import { endpointsToTell, ownAddresses } from './own-addresses.ts';
import { endpointsAt } from './peer-address.ts';
import { joinTopics } from './peer-topics.ts';
import { PeerLine } from './peer-line.ts';
import {
  type CardMessage,
  MAX_CHANNELS,
  MAX_ENDPOINTS,
  PEER_PROTOCOL_VERSION,
  type PeerMessage,
  type PeerRequest,
  type PeerTermsMessage,
  PEERS_ID,
} from './peer-message.ts';
import { PeerSession, type ServedRequest, type SessionUser } from './peer-session.ts';
import { RefusedPeers } from './refused-peers.ts';
import type { Trust } from './trust.ts';
import {
  isNameOfOthers,
  judgesAlike,
  revoking,
  takesOver,
  type TrustBook,
  trusting,
  trustOf,
} from './trust-book.ts';

/** Requests of one other node that may be open here at a time. */
const MAX_SERVED = 4_096;
/** What a message may take of a frame: the envelope around it needs the rest. */
const ENVELOPE_BYTES = 1_024;
const MAX_PEERS = 1_024;

/** What happens to other nodes, for whoever hosts their agents and does what they ask. */
export interface PeerNodeUser {
  /** Those of the agents here that others may know of, as they are now. */
  cards(): readonly AgentCard[];
  serve(request: PeerRequest, session: PeerSession, peer: Peer): ServedRequest;
  /** Cards of its agents, new or changed; none is checked yet. */
  onCards(cards: readonly unknown[], peer: Peer): void;
  /** These of its agents are no more. */
  onGone(agents: readonly string[], peer: Peer): void;
  /** Requests go over this session to a node from now on. */
  onUsed(session: PeerSession, peer: Peer): void;
  /** What a node says of signed cards, its own and others'. */
  onCardMessage(message: CardMessage, session: PeerSession): void;
  /** It asks what both could agree on, or answers that. */
  onTerms(message: PeerTermsMessage, session: PeerSession, peer: Peer): void;
  /** An envelope of its session has not the number that was awaited. */
  onFinding(
    finding: ReceiveFinding,
    about: { readonly node: string | undefined; readonly channelId: string },
  ): void;
  /** A node could not be dialled. */
  onFailed(): void;
  onStatus(peer: Peer, status: PeerStatus, reason: string | undefined): void;
  /** What requests to it went over is over. */
  onSessionOver(peer: Peer, reason: string): void;
  /** It was revoked: its agents go. */
  onCut(peer: Peer): void;
}

/**
 * Who this node is among others.
 *
 * - `node`  its name.
 * - `keys`  with which it proves who it is.
 * - `trust`, `revoked` whom it lets in when it starts.
 * - `epoch` a number that grows with each start of the node.
 * - `salt`  makes keys of outsiders that nobody can guess.
 */
export interface OwnIdentity extends TrustBook {
  readonly node: string;
  readonly keys: SigningKeyPair;
  readonly epoch: number;
  readonly salt: string;
}

/**
 * What it reaches others by.
 *
 * - `addresses` where others find it, instead of where it listens with the same transport.
 * - `dial`      where other nodes are, tried until they are found.
 * - `topics`    names under which nodes find each other.
 */
export interface PeerNetwork {
  readonly transports: readonly Transport[];
  readonly addresses: readonly AgentEndpoint[];
  readonly dial: readonly AgentEndpoint[];
  readonly topics: readonly string[];
  readonly channel: ChannelOptions;
}

export interface PeerNodeDeps {
  readonly self: OwnIdentity;
  readonly network: PeerNetwork;
  readonly seams: Seams;
  readonly user: PeerNodeUser;
  readonly log: (event: ChannelLogEvent) => void;
}

/** A channel that is open, from its first message until it is over. */
interface Joining {
  readonly session: PeerSession;
  readonly proof: ChannelProof;
  peer: Peer | undefined;
  epoch: number;
  maxOpen: number;
  /** What the other node had with this one when it joined. */
  channels: readonly string[];
}

/** This node among others: dials them, lets them in, and keeps one session in use with each. */
export class PeerNode implements SessionUser {
  readonly #deps: PeerNodeDeps;
  readonly #manager: ChannelManager;
  readonly #proofs = new Map<string, ChannelProof>();
  readonly #joining = new Map<PeerSession, Joining>();
  readonly #peers = new Map<string, Peer>();
  readonly #lines = new Map<string, PeerLine>();
  readonly #refused = new RefusedPeers();
  readonly #dialler: PeerDialler;
  readonly #signer: ChannelSigner;
  #told = new Map<string, number>();
  #book: TrustBook;
  #addresses: readonly string[] = [];
  #isClosed = false;

  constructor(deps: PeerNodeDeps) {
    this.#deps = deps;
    const { self, seams } = deps;
    this.#book = self;
    this.#signer = channelSigner(nodeCard(self.node, seams.clock.now()), self.keys);
    this.#manager = this.#newManager({ endpoints: () => [], key: () => undefined });
    this.#manager.onChannel((channel) => this.#join(channel));
    this.#dialler = new PeerDialler(
      {
        newManager: (goal) => this.#newManager(goal),
        join: (channel) => this.#join(channel),
        inUseWith: (publicKey) => this.#peerWith(publicKey)?.session,
        endpointsOf: (publicKey) => this.#peerWith(publicKey)?.endpoints ?? [],
        onFailed: () => deps.user.onFailed(),
      },
      seams,
    );
  }

  /** Takes connections on every transport, dials, and joins topics. Resolves to where others find it; rejects as `listen` does. */
  async open(): Promise<readonly AgentEndpoint[]> {
    const { transports, addresses, dial, topics } = this.#deps.network;
    const endpoints = endpointsToTell(addresses, await this.#manager.listen());
    this.#addresses = ownAddresses(endpoints);
    // Some came over one transport while another one was not listening yet.
    for (const { session } of this.#joining.values()) this.#sayEndpoints(session);
    for (const endpoint of dial) this.dial(endpoint);
    void joinTopics(topics, transports, {
      onFound: (endpoint) => this.#dialler.dialFound(endpoint),
      onTrouble: (reason) => this.#note(reason, 'DELIVERY_FAILED'),
    });
    return endpoints;
  }

  /** Where others find it; nowhere until it listens. */
  get endpoints(): readonly AgentEndpoint[] {
    return endpointsAt(this.#addresses);
  }

  get peers(): readonly Peer[] {
    return [...this.#peers.values()];
  }

  peer(node: string): Peer | undefined {
    return this.#peers.get(node);
  }

  /** Nodes are being dialled for the first time, or have not shown their agents yet. */
  get isMeeting(): boolean {
    return (
      this.#dialler.isMeeting || this.peers.some(({ status, cards }) => status === 'up' && cards.size === 0)
    );
  }

  /** The way to a node, which is awaited for a while if nobody has heard of it yet. */
  lineTo(node: string): PeerLine {
    const known = this.#lines.get(node);
    if (known !== undefined) return known;
    const line = new PeerLine(node);
    this.#lines.set(node, line);
    this.#deps.seams.clock.setTimer(this.#patienceMs, () => {
      if (!this.#peers.has(node)) line.lose(`nothing was heard of it for ${this.#patienceMs} ms`);
    });
    return line;
  }

  /** Looks for a node at this address, and again whenever it has gone. */
  dial(endpoint: AgentEndpoint): void {
    this.#dialler.dial(endpoint);
  }

  /** Trusts this key from now on. Whoever has it and was judged otherwise is cut off, and may come again. */
  trust(entry: Trust): void {
    this.#book = trusting(this.#book, entry);
    this.#refused.forget(entry.key);
    for (const peer of this.peers) {
      const now = this.#trustOf(peer.identity.publicKey);
      if (now === undefined || isNameOfOthers(this.#book, peer.node, now))
        this.#cut(peer, 'its name is that of another key');
      else if (!judgesAlike(peer.identity.trust, now)) this.#cut(peer, 'it is judged otherwise');
    }
    this.#dialler.retry();
  }

  /** Looks for a node where its card says, unless it is in session: with that run of it which has this `epoch`, or a later one. */
  dialNode({ node, epoch }: Pick<OwnIdentity, 'node' | 'epoch'>, endpoints: readonly AgentEndpoint[]): void {
    const known = this.#peers.get(node);
    if (known?.session !== undefined && known.epoch >= epoch) return;
    const kinds = new Set<string>(this.#deps.network.transports.map(({ kind }) => kind));
    const within = endpoints.filter(
      ({ transport, address }) => kinds.has(transport) && address !== undefined,
    );
    for (const endpoint of within.slice(0, MAX_ENDPOINTS)) this.#dialler.dialFound(endpoint);
  }

  /** Keys that were not let in lately, the last one first. */
  get refused(): readonly RefusedPeer[] {
    return this.#refused.list();
  }

  /** Whom it lets in, in the order in which that was said. */
  get trusted(): readonly Trust[] {
    return this.#book.trust;
  }

  takesOver(node: string, keys: { readonly by: string; readonly from: string }): boolean {
    return takesOver(this.#book, node, keys);
  }

  /** What whoever has this key, under this name, was granted; undefined if it is not let in. */
  grantOf(node: string, publicKey: string): Trust | undefined {
    return this.#whyNot(node, publicKey) === undefined ? this.#trustOf(publicKey) : undefined;
  }

  /** Trusts this key no more: whoever has it is cut off at once. */
  revoke(publicKey: string): void {
    this.#book = revoking(this.#book, publicKey);
    for (const peer of this.peers)
      if (peer.identity.publicKey === publicKey) this.#cut(peer, 'it was revoked');
    for (const { session, proof } of [...this.#joining.values()])
      if (proof.publicKey === publicKey) session.cut('its key was revoked');
  }

  /** Ends what there is with a node; its agents leave the team. */
  #cut(peer: Peer, reason: string): void {
    peer.revoke(reason);
    this.#peers.delete(peer.node);
    this.#lines.delete(peer.node);
    this.#endChannels(peer, reason);
  }

  /** Ends all channels that a node has said its name on, those that are not in use too. */
  #endChannels(peer: Peer, reason: string): void {
    for (const joining of [...this.#joining.values()]) if (joining.peer === peer) joining.session.end(reason);
  }

  /** The agents here have changed: the others are told what is new. */
  tellCards(): void {
    const cards = this.#deps.user.cards();
    const news = cards.filter((card) => this.#told.get(card.id) !== card.revision);
    const ids = new Set(cards.map(({ id }) => id));
    const gone = [...this.#told.keys()].filter((id) => !ids.has(id));
    this.#told = new Map(cards.map(({ id, revision }) => [id, revision]));
    for (const { session } of this.peers) {
      if (session === undefined) continue;
      this.#sayCards(session, news);
      session.sayGone(gone);
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#dialler.stop();
    for (const { session } of [...this.#joining.values()]) session.end('the node stops');
    for (const peer of this.#peers.values()) peer.close();
    await Promise.all([this.#manager.closeAll(), this.#dialler.closeAll()]);
    await Promise.all(this.#deps.network.transports.map(closeTransport));
  }

  // Sessions

  serve(request: PeerRequest, session: PeerSession): ServedRequest {
    const peer = this.#joining.get(session)?.peer;
    if (peer?.session !== session) {
      session.end('it asks before it may');
      return { pull: () => undefined, abort: () => undefined };
    }
    return this.#deps.user.serve(request, session, peer);
  }

  onNews(message: PeerMessage, session: PeerSession): void {
    const joining = this.#joining.get(session);
    if (joining === undefined) return;
    const { peer } = joining;
    switch (message.type) {
      case 'node':
        if (peer === undefined) this.#introduced(message, joining);
        return;
      case 'endpoints':
        if (peer !== undefined) peer.endpoints = endpointsAt(message.addresses);
        return;
      case 'use':
        // Only the node with the smaller key chooses.
        if (peer !== undefined && !this.#chooses(joining)) this.#use(joining, peer);
        return;
      case 'cards':
        if (peer?.session === session) this.#deps.user.onCards(message.cards, peer);
        return;
      case 'gone':
        if (peer?.session === session) this.#deps.user.onGone(message.agents, peer);
        return;
      case 'signed-cards':
      case 'card-fingerprint':
      case 'card-digest':
      case 'card-answer':
        if (peer?.session === session) this.#deps.user.onCardMessage(message, session);
        return;
      case 'capability_negotiation':
      case 'capability_negotiation_response':
        if (peer?.session === session) this.#deps.user.onTerms(message, session, peer);
    }
  }

  onFault(reason: string, session: PeerSession): void {
    const node = this.#joining.get(session)?.peer?.node ?? 'a node';
    this.#note(`${node} says what makes no sense: ${reason}`, 'REFUSED', {
      channelId: session.channel.id,
      security: true,
    });
  }

  onFinding(finding: ReceiveFinding, session: PeerSession): void {
    const node = this.#joining.get(session)?.peer?.node;
    this.#deps.user.onFinding(finding, { node, channelId: session.channel.id });
  }

  onOver(reason: string, session: PeerSession): void {
    const joining = this.#joining.get(session);
    this.#joining.delete(session);
    this.#proofs.delete(session.channel.id);
    const peer = joining?.peer;
    if (peer?.session === session) this.#deps.user.onSessionOver(peer, reason);
    peer?.sessionOver(session, reason);
  }

  #note(
    reason: string,
    errorCode: ErrorCode,
    more: Partial<Pick<ChannelLogEvent, 'channelId' | 'security'>> = {},
  ): void {
    const timestamp = this.#deps.seams.clock.now();
    this.#deps.log({
      type: 'error',
      timestamp,
      agentId: PEERS_ID,
      errorCode,
      reason,
      success: false,
      ...more,
    });
  }

  #newManager({ endpoints, key }: ChannelGoal): ChannelManager {
    const { network, seams, log } = this.#deps;
    const { transports, channel } = network;
    const manager = new ChannelManager({
      transports,
      hosts: (id) => id === PEERS_ID,
      endpointsOf: endpoints,
      proofs: 'required',
      signer: () => this.#signer,
      admit: (asked) => this.#admit(asked, key()),
      channel,
      seams,
    });
    manager.onEvent((event) => {
      const logged = channelLogEvent(event);
      if (logged !== undefined) log(logged);
      if (event.type === 'channel-status') this.#channelIs(event.channelId, event.status, event.reason);
    });
    return manager;
  }

  #channelIs(channelId: string, status: ChannelStatus, reason: string | undefined): void {
    if (status === 'closed') this.#proofs.delete(channelId);
    for (const { session, peer } of [...this.#joining.values()]) {
      if (session.channel.id !== channelId) continue;
      if (status === 'closed') session.end(reason ?? 'its channel was closed');
      else if (peer?.session === session) peer.channelIs(status, reason);
    }
  }

  #admit(
    { channelId, proof, remoteAgentId, transport }: AskedChannel,
    expected: string | undefined,
  ): HelloRefusal | undefined {
    if (proof === undefined) return refusal(`"${remoteAgentId}" has proved nothing`);
    const { publicKey, card } = proof;
    if (expected !== undefined && publicKey !== expected)
      return refusal(`"${card.name}" is at an address that somebody else has named`);
    const isFull = !this.#peers.has(card.name) && this.#peers.size >= MAX_PEERS;
    const reason =
      this.#whyNot(card.name, publicKey) ??
      (isFull ? `${MAX_PEERS} other nodes are known already` : undefined);
    if (reason === undefined) {
      this.#proofs.set(channelId, proof);
      return undefined;
    }
    if (publicKey !== this.#deps.self.keys.publicKey)
      this.#refused.add({
        ...{ publicKey, node: card.name, atMs: this.#deps.seams.clock.now(), reason },
        ...(transport === undefined ? {} : { transport }),
      });
    return refusal(reason);
  }

  /** Why whoever has this key is not let in under this name. */
  #whyNot(node: string, publicKey: string): string | undefined {
    const trust = this.#trustOf(publicKey);
    if (publicKey === this.#deps.self.keys.publicKey) return 'it is this node itself';
    if (trust === undefined) return `the key ${publicKey} is not trusted here`;
    if (!NodeId.safeParse(node).success) return `"${node}" is no name of a node`;
    if (node === this.#deps.self.node) return `"${node}" is the name of this node`;
    if (trust.node !== undefined && trust.node !== node)
      return `the key ${publicKey} is that of "${trust.node}", not of "${node}"`;
    if (isNameOfOthers(this.#book, node, trust)) return `"${node}" is the name of another key`;
    return this.#mayBe(publicKey, this.#peers.get(node)) ? undefined : `"${node}" has another key`;
  }

  #trustOf(publicKey: string): Trust | undefined {
    return trustOf(this.#book, publicKey);
  }

  /** Whether who proves this key is the node that is known, or takes over its name. */
  #mayBe(publicKey: string, known: Peer | undefined): boolean {
    if (known === undefined || known.identity.publicKey === publicKey) return true;
    return takesOver(this.#book, known.node, { by: publicKey, from: known.identity.publicKey });
  }

  /** A channel is open: both ends say who they are, and one of them chooses. */
  #join(channel: A2AChannel): PeerSession | undefined {
    const proof = this.#proofs.get(channel.id);
    if (proof === undefined || this.#isClosed || !this.#mayJoin(proof)) {
      void channel.close();
      return undefined;
    }
    const { clock, newId } = this.#deps.seams;
    const { node, epoch } = this.#deps.self;
    const session = new PeerSession(channel, proof.publicKey, {
      clock,
      newId,
      user: this,
      maxBytes: this.#maxMessageBytes,
      maxServed: MAX_SERVED,
    });
    this.#joining.set(session, { session, proof, peer: undefined, epoch: -1, maxOpen: 0, channels: [] });
    const channels = this.#with(proof.publicKey).map((one) => one.session.channel.id);
    session.say({
      ...{ type: 'node', version: PEER_PROTOCOL_VERSION, node, epoch },
      ...{ maxOpen: MAX_SERVED, channels },
    });
    this.#sayEndpoints(session);
    return session;
  }

  #peerWith(publicKey: string): Peer | undefined {
    return this.peers.find(({ identity }) => identity.publicKey === publicKey);
  }

  #mayJoin({ publicKey }: ChannelProof): boolean {
    return this.#with(publicKey).length < MAX_CHANNELS && this.#trustOf(publicKey) !== undefined;
  }

  /** The channels with whoever has this key. */
  #with(publicKey: string): readonly Joining[] {
    return [...this.#joining.values()].filter(({ proof }) => proof.publicKey === publicKey);
  }

  /** How long a node that has gone is awaited: as long as its channel is. */
  get #patienceMs(): number {
    return ChannelOptions.parse(this.#deps.network.channel).reconnectTimeoutMs;
  }

  get #maxMessageBytes(): number {
    const { transports, channel } = this.#deps.network;
    const most = Math.min(...transports.map(({ maxFrameBytes }) => maxFrameBytes));
    return Math.min(most, channel.maxFrameBytes ?? most) - ENVELOPE_BYTES;
  }

  #introduced(message: PeerMessage & { type: 'node' }, joining: Joining): void {
    const { session, proof } = joining;
    if (message.version !== PEER_PROTOCOL_VERSION)
      return session.end(`it speaks version ${message.version}, this node ${PEER_PROTOCOL_VERSION}`);
    if (message.node !== proof.card.name)
      return session.end(`it calls itself "${message.node}", and has proved to be "${proof.card.name}"`);
    // The name may have become that of another key since this one was let in.
    const whyNot = this.#whyNot(message.node, proof.publicKey);
    if (whyNot !== undefined) return session.end(whyNot);
    joining.epoch = message.epoch;
    joining.maxOpen = message.maxOpen;
    joining.channels = message.channels ?? [];
    joining.peer = this.#peerOf(proof);
    if (!this.#chooses(joining)) return;
    const { session: inUse } = joining.peer;
    // One that has just started knows nothing of what was before; one that is cut off comes back here.
    const isNewer = message.epoch !== joining.peer.epoch;
    if (inUse !== undefined && !isNewer && !this.#isGone(inUse, joining))
      return session.end('another channel is in use');
    session.say({ type: 'use' });
    this.#use(joining, joining.peer);
  }

  /** Whether the other node has closed the channel in use, as it says over another. One that it has will resume. */
  #isGone(inUse: PeerSession, { session, channels }: Joining): boolean {
    if (inUse.channel.status === 'open' || channels.includes(inUse.channel.id)) return false;
    // It may have said so before it had the one in use.
    return this.#joining.get(inUse)?.channels.includes(session.channel.id) !== true;
  }

  /** Of two that dial at once one decides: the one with the smaller key. */
  #chooses({ proof }: Joining): boolean {
    return this.#deps.self.keys.publicKey < proof.publicKey;
  }

  #use({ session, epoch, maxOpen }: Joining, peer: Peer): void {
    const { session: before } = peer;
    if (before === session) return;
    if (before !== undefined) before.end('another channel is in use');
    peer.epoch = epoch;
    // Whoever asks has to be known first.
    this.#sayCards(session, this.#deps.user.cards());
    peer.use(session, maxOpen);
    this.#deps.user.onUsed(session, peer);
  }

  #peerOf({ publicKey, card }: ChannelProof): Peer {
    const node = card.name;
    const known = this.#peers.get(node);
    const trust = this.#trustOf(publicKey) as Trust;
    if (known?.identity.publicKey === publicKey) return known;
    if (known !== undefined && judgesAlike(known.identity.trust, trust)) {
      known.rekey(publicKey, trust);
      this.#endChannels(known, 'its next key has come');
      return known;
    }
    if (known !== undefined) this.#cut(known, 'its next key has come');
    const { user, seams, self } = this.#deps;
    const peer = new Peer(
      { node, publicKey, trust, outsider: outsiderOf(`peer:${node}`, self.salt) },
      {
        clock: seams.clock,
        patienceMs: this.#patienceMs,
        line: this.lineTo(node),
        onStatus: (one, status, reason) => user.onStatus(one, status, reason),
        onCut: (one) => {
          one.session?.cut('it was revoked');
          user.onCut(one);
        },
      },
    );
    this.#peers.set(node, peer);
    return peer;
  }

  #sayEndpoints(session: PeerSession): void {
    if (this.#addresses.length > 0) session.say({ type: 'endpoints', addresses: [...this.#addresses] });
  }

  /** One in a message: what is said together goes together anyway, and no frame has room for many large ones. */
  #sayCards(session: PeerSession, cards: readonly AgentCard[]): void {
    for (const card of cards) {
      try {
        session.say({ type: 'cards', cards: [card] });
      } catch (error) {
        const reason = `other nodes are not told of "${card.id}": ${reasonOf(error)}`;
        this.#note(reason, 'NOT_SERIALISABLE', { channelId: session.channel.id });
      }
    }
  }
}

/** Those over a network hold sockets; those within a process do not. */
async function closeTransport(transport: Transport & { close?(): Promise<void> }): Promise<void> {
  await transport.close?.();
}

const refusal = (reason: string): HelloRefusal => ({ code: 'REFUSED', reason });

/** The card with which a node signs: it is not one of an agent. */
const nodeCard = (node: string, nowMs: number): AgentCard => ({
  id: PEERS_ID,
  name: node,
  version: '1.0.0',
  description: `The node ${node}`,
  tier: 3,
  protocols: ['orrery/peers/1'],
  endpoints: [],
  capabilities: [],
  revision: 0,
  origin: 'local',
  lastSeenAt: nowMs,
});
