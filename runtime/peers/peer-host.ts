import type { SendingThread } from '../cell/mail-sender.ts';
import type { Cell } from '../cell/cell.ts';
import type { LoadedAgent } from '../agent/loaded-agent.ts';
import { AgentId } from '../agent/agent-options.ts';
import { type AgentCard, type AgentEndpoint, parseAgentCard } from '../protocol/agent-card.ts';
import { agentNotFound, reasonOf } from '../protocol/errors.ts';
import type { PeerExtension, PeerOffer } from '../protocol/peer-extension.ts';
import type { ReceiveFinding } from '../protocol/receive-policy.ts';
import type { SystemEvent } from '../protocol/system-event.ts';
import type { Clearance } from '../protocol/agent-row.ts';
import { HOST_ID } from '../protocol/policy.ts';
import type { PeerRow } from '../protocol/peer-row.ts';
import { registeredCard } from '../routing/registered-card.ts';
import { RegistryView } from '../routing/registry-view.ts';
import { isServed, type RemoteQuery } from '../routing/remote-lookup.ts';
import type { Peer } from './peer.ts';
import { definitionOf, loadedPeerAgent } from './peer-agent.ts';
import type { PeerWay } from './peer-actor.ts';
import type { KnownCard } from './card-book.ts';
import { badCardEvent, type CardRefusal, refusedCardEvent } from './card-refusal.ts';
import { PeerGossip } from './peer-gossip.ts';
import { PeerReview } from './peer-review.ts';
import { PeerTerms } from './peer-terms.ts';
import { PeerChannels } from './peer-channels.ts';
import { PeerDesk } from './peer-desk.ts';
import { transportOf } from './peer-address.ts';
import { type CardMessage, PEERS_ID, type PeerRequest, type PeerTermsMessage } from './peer-message.ts';
import { moduleOf, nameIn } from './peer-module.ts';
import { PeerNames } from './peer-names.ts';
import { type OwnIdentity, type PeerNetwork, PeerNode, type PeerNodeUser } from './peer-node.ts';
import { type PeerStatus, REACH } from './peer.machine.ts';
import { RefusedCards } from './refused-cards.ts';
import type { PeerSession, ServedRequest } from './peer-session.ts';
import { clearanceBy, mayBeCalled, requesterBy, type Trust } from './trust.ts';

/** Agents of one other node that are taken in at most. */
const MAX_AGENTS = 1_000;
const MAX_CARD_BYTES = 65_536;
/** How long a lookup waits for nodes that are dialled for the first time, milliseconds. */
const FIRST_MEETING_MS = 2_000;
/** Nodes that one lookup dials. */
const MAX_DIALLED = 8;

/** An agent of another node that is to join the team under this id. */
export interface PeerOrder {
  readonly id: string;
  readonly module: string;
}

/** What the control thread is told. */
export interface PeerReports {
  /** These are to join the team; `enrolled` says when they have, or why not. */
  enrol(orders: readonly PeerOrder[]): void;
  /** These are no more. */
  dismiss(ids: readonly string[]): void;
}

/** The cell of the agent in this slot, if that is hosted here. */
export type CellOf = (slot: number) => Cell | undefined;

export interface PeerHostDeps {
  readonly thread: SendingThread;
  readonly cellOf: CellOf;
  readonly reports: PeerReports;
  readonly self: OwnIdentity;
  readonly network: PeerNetwork;
  readonly extension: PeerExtension | undefined;
}

/** An agent of another node: known by its card, and here once the control thread has it. */
interface Member {
  readonly peer: Peer;
  /** Its id there. */
  readonly id: string;
  readonly name: string;
  readonly card: AgentCard;
  readonly clearance: Clearance;
  readonly here: PromiseWithResolvers<void>;
}

/** The agents of other nodes, in the one thread that speaks with those. */
export class PeerHost implements PeerNodeUser {
  readonly node: PeerNode;
  readonly #deps: PeerHostDeps;
  readonly #names: PeerNames;
  readonly #channels: PeerChannels;
  readonly #desk: PeerDesk;
  readonly #gossip: PeerGossip;
  readonly #review: PeerReview;
  readonly #terms: PeerTerms | undefined;
  readonly #members = new Map<string, Member>();
  /** How many orders of an agent, by its name, the control thread has not answered. It does what it is told one after the other. */
  readonly #ordered = new Map<string, number>();
  readonly #refusedCards = new RefusedCards((reason) => this.#problem(reason));
  readonly #unwatch: () => void;
  readonly #awaitingNews = new Set<() => void>();
  #isTellPlanned = false;

  constructor(deps: PeerHostDeps) {
    this.#deps = deps;
    const { thread, self, network, extension } = deps;
    const { clock } = thread.seams;
    const note = (event: SystemEvent): void => thread.log.note(event);
    this.#names = new PeerNames(self.node, thread.table);
    const names = this.#names;
    this.#channels = new PeerChannels({ thread, names, sessionOf: (node) => this.node.peer(node)?.session });
    thread.channels.passage = this.#channels;
    this.#desk = new PeerDesk({ thread, names, channels: this.#channels, self: self.node });
    this.#review = new PeerReview({ clock, note, extension });
    if (extension !== undefined)
      this.#terms = new PeerTerms({ clock, note, extension, offerTo: (peer) => this.#offerTo(peer) });
    this.node = new PeerNode({
      self,
      network,
      seams: thread.seams,
      user: this,
      log: (event) => thread.log.note(event),
    });
    this.#gossip = new PeerGossip({
      self,
      clock,
      user: {
        admits: (node, publicKey) => this.node.grantOf(node, publicKey) !== undefined,
        takesOver: (node, keys) => this.node.takesOver(node, keys),
        onCard: (card) => this.#heardOf(card),
        onRoundOver: () => this.#tellNews(),
        onRefused: (refusal, more, session) => this.#cardRefused(refusal, more, session),
        onProblem: (reason) => this.#problem(reason),
      },
    });
    this.#gossip.trust(this.node.trusted);
    this.#unwatch = thread.table.watch(() => this.#tellSoon());
  }

  /** Takes connections, dials, and announces the agents here. Resolves to where others find it; rejects as `listen` does. */
  async open(): Promise<readonly AgentEndpoint[]> {
    const endpoints = await this.node.open();
    this.#tellSoon();
    return endpoints;
  }

  /** Which other nodes there are, and how they are doing. */
  rows(): readonly PeerRow[] {
    return this.node.peers.map((peer) => {
      const { identity, status, sinceMs, session, cards, line } = peer;
      const counts = session?.counts ?? { own: 0, served: 0 };
      return {
        node: identity.node,
        publicKey: identity.publicKey,
        status,
        sinceMs,
        tier: identity.trust.tier,
        transport: session?.channel.transport,
        ...addressIn(session),
        ...(session?.roundTripMs === undefined ? {} : { roundTripMs: session.roundTripMs }),
        agreed: peer.agreed,
        agents: [...cards.keys()],
        asked: counts.own + line.held,
        served: counts.served,
      };
    });
  }

  /** What the module of an agent of another node stands for. */
  load(module: string): LoadedAgent {
    const member = this.#members.get(nameIn(module));
    if (member === undefined) throw agentNotFound(nameIn(module));
    return loadedPeerAgent(member.card, member.clearance);
  }

  /** How the agents of a node are reached. */
  wayTo(node: string): PeerWay {
    const peer = this.node.peer(node);
    const taint = peer === undefined ? `peer:${node}` : peer.taint;
    return {
      line: this.node.lineTo(node),
      names: this.#names,
      channels: this.#channels,
      taint,
      review: (value, about) => this.#review.answer(node, value, about),
    };
  }

  /** An agent of this node has taken the id of this one, which joins again under its whole name. */
  forgotten(id: string): void {
    const name = this.#names.everywhere(id);
    // One that is ordered comes anew, as its last card says.
    if (!this.#members.has(name) || this.#ordered.has(name)) return;
    this.#channels.gone(name, `it is called ${name} from now on`);
    this.#enrol([{ id: this.#names.giveWay(name), module: moduleOf(name) }]);
  }

  #enrol(orders: readonly PeerOrder[]): void {
    for (const { module } of orders) {
      const name = nameIn(module);
      this.#ordered.set(name, (this.#ordered.get(name) ?? 0) + 1);
    }
    this.#deps.reports.enrol(orders);
  }

  /** An order is answered. Returns whether it was the last one of this agent: those before were for cards that count no more. */
  #isLastAnswer(name: string): boolean {
    const left = (this.#ordered.get(name) ?? 0) - 1;
    if (left > 0) this.#ordered.set(name, left);
    else this.#ordered.delete(name);
    return left <= 0;
  }

  /** The control thread has these, or says why not. */
  enrolled(modules: readonly string[], problem: string | undefined): void {
    const answered = modules.map(nameIn).filter((name) => this.#isLastAnswer(name));
    const members = answered.flatMap((name) => this.#members.get(name) ?? []);
    if (problem !== undefined && this.#enrolUnderNames(members)) return;
    for (const member of members) {
      if (problem === undefined) {
        this.#tellReach(member);
        member.here.resolve();
      } else {
        this.#forget(member);
        this.#problem(`"${member.name}" was not taken in: ${problem}`);
      }
    }
  }

  /** An agent of this node may have taken an id meanwhile, and not be in the table here yet. False when their names were refused too. */
  #enrolUnderNames(members: readonly Member[]): boolean {
    if (members.every(({ name }) => this.#names.idOf(name) === name)) return false;
    this.#enrol(members.map(({ name }) => ({ id: this.#names.giveWay(name), module: moduleOf(name) })));
    return true;
  }

  /** Resolves when whoever is known of other nodes for this query is in the table. */
  async lookUp(query: RemoteQuery): Promise<void> {
    const { table, seams } = this.#deps.thread;
    if (isServed(table, query)) return;
    // Who is being dialled for the first time may have whoever is looked for.
    const untilMs = seams.clock.monotonicMs() + FIRST_MEETING_MS;
    const dialled = new Set<string>();
    for (;;) {
      const found = this.#found(query);
      await Promise.allSettled(found.map(({ here }) => here.promise));
      const leftMs = untilMs - seams.clock.monotonicMs();
      if (found.length > 0 || leftMs <= 0) return;
      this.#dialThose(this.#gossip.find(query), dialled);
      if (!this.node.isMeeting && !this.#gossip.isBeginning) return;
      await this.#newsWithin(leftMs);
    }
  }

  /** Dials the nodes that have these agents, as their cards say, but for those that were `dialled`. */
  #dialThose(cards: readonly KnownCard[], dialled: Set<string>): void {
    for (const known of cards) {
      const { nodeId, publicKey, card } = known;
      const grant = this.node.grantOf(nodeId, publicKey);
      if (grant === undefined || !mayBeCalled(grant, card.id)) continue;
      if (dialled.has(nodeId) || dialled.size >= MAX_DIALLED) continue;
      dialled.add(nodeId);
      this.#dialNodeOf(known);
    }
  }

  #dialNodeOf({ nodeId, bootEpoch }: KnownCard): void {
    this.node.dialNode({ node: nodeId, epoch: bootEpoch }, this.#gossip.endpointsOf(nodeId));
  }

  #found({ kind, id }: RemoteQuery): readonly Member[] {
    return [...this.#members.values()].filter(({ name, card }) =>
      kind === 'agent'
        ? name === id || card.id === id
        : card.capabilities.some((capability) => capability.id === id),
    );
  }

  /** Resolves when another node has said or become something, or after so long. */
  #newsWithin(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        cancel();
        this.#awaitingNews.delete(done);
        resolve();
      };
      const cancel = this.#deps.thread.seams.clock.setTimer(ms, done);
      this.#awaitingNews.add(done);
    });
  }

  #tellNews(): void {
    for (const done of [...this.#awaitingNews]) done();
  }

  async close(): Promise<void> {
    this.#unwatch();
    this.#gossip.close();
    await this.node.close();
  }

  // What other nodes say

  serve(request: PeerRequest, session: PeerSession, peer: Peer): ServedRequest {
    const { identity, taint } = peer;
    const refusal = this.#review.envelope(identity.node, request.envelope);
    if (refusal !== undefined) {
      const { code, message } = refusal;
      session.answer({ type: 'failed', n: request.n, error: { code, message } });
      return { pull: () => undefined, abort: () => undefined };
    }
    return this.#desk.serve(request, session, {
      node: identity.node,
      taint,
      outsider: identity.outsider,
      requester: requesterBy(identity.trust, identity.node),
      whenKnown: (name) => this.#members.get(name)?.here.promise,
    });
  }

  onCards(cards: readonly unknown[], peer: Peer): void {
    const orders = cards.flatMap((card) => this.#takeIn(card, peer) ?? []);
    if (orders.length > 0) this.#enrol(orders);
    this.#tellNews();
  }

  onGone(agents: readonly string[], peer: Peer): void {
    this.#dismiss(agents.flatMap((agent) => this.#members.get(`${peer.node}/${agent}`) ?? []));
  }

  onUsed(session: PeerSession, peer: Peer): void {
    this.#gossip.join(peer.node, session);
  }

  onCardMessage(message: CardMessage, session: PeerSession): void {
    this.#gossip.hear(message, session);
  }

  onTerms(message: PeerTermsMessage, session: PeerSession, peer: Peer): void {
    this.#terms?.hear(message, session, peer);
  }

  onFinding(
    finding: ReceiveFinding,
    { node, channelId }: { readonly node: string | undefined; readonly channelId: string },
  ): void {
    this.#review.tell(finding, { channelId, ...(node === undefined ? {} : { targetAgentId: node }) });
  }

  onFailed(): void {
    this.#tellNews();
  }

  /** Trusts this key from now on: what others say of it is asked for again. */
  trust(entry: Trust): void {
    this.node.trust(entry);
    this.#gossip.trust(this.node.trusted);
  }

  /** This key is trusted no more: whoever has it is cut off, and nothing that it has signed is believed. */
  revoke(publicKey: string): void {
    this.node.revoke(publicKey);
    this.#gossip.forget(publicKey);
  }

  /** A node that was here and has gone may be elsewhere by now. */
  #heardOf(known: KnownCard): void {
    if (this.node.peer(known.nodeId) !== undefined) this.#dialNodeOf(known);
    this.#tellNews();
  }

  #cardRefused(refusal: CardRefusal, more: number, { publicKey }: PeerSession): void {
    const { thread } = this.#deps;
    const from = this.node.peers.find(({ identity }) => identity.publicKey === publicKey)?.node ?? 'a node';
    const event = refusedCardEvent(refusal, { more, from, timestamp: thread.seams.clock.now() });
    if (event !== undefined) thread.log.note(event);
  }

  onStatus(peer: Peer, status: PeerStatus, reason: string | undefined): void {
    const { thread } = this.#deps;
    thread.log.note({
      type: 'peer-status',
      timestamp: thread.seams.clock.now(),
      agentId: PEERS_ID,
      targetAgentId: peer.node,
      success: status === 'up',
      reason: reason === undefined ? status : `${status}: ${reason}`,
    });
    for (const member of this.#members.values()) if (member.peer === peer) this.#tellReach(member);
    if (status === 'up' && peer.session !== undefined) this.#terms?.begin(peer.session, peer);
  }

  /** What is for a capability goes to whom it can reach. */
  #tellReach({ name, peer }: Member): void {
    const { thread, cellOf } = this.#deps;
    const slot = thread.table.get(this.#names.idOf(name) ?? '')?.slot ?? -1;
    cellOf(slot)?.reachIs(REACH[peer.status]);
  }

  onSessionOver({ node }: Peer, reason: string): void {
    this.#channels.sessionOver(node, reason);
  }

  onCut(peer: Peer): void {
    this.#review.forget(peer.node);
    this.#dismiss([...this.#members.values()].filter((member) => member.peer === peer));
  }

  /** Takes in a card; undefined when it is known, or is none that this node may show. */
  #takeIn(value: unknown, peer: Peer): PeerOrder | undefined {
    const { session } = peer;
    if (session === undefined || !this.#refusedCards.mayRead(session)) return undefined;
    try {
      const card = this.#cardOf(value, peer);
      const { id } = value as AgentCard;
      const name = `${peer.node}/${id}`;
      const known = this.#members.get(name);
      if (known?.card.revision === card.revision && known.peer === peer) return undefined;
      // What it offers is another thing now: it joins anew.
      if (known !== undefined) this.#dismiss([known]);
      const clearance = clearanceBy(peer.identity.trust, peer.node, card);
      definitionOf(card, clearance);
      const member = { peer, id, name, card, clearance, here: Promise.withResolvers<void>() };
      member.here.promise.catch(() => undefined);
      this.#members.set(name, member);
      peer.cards.set(id, card);
      return { id: this.#names.choose({ node: peer.node, agent: id }), module: moduleOf(name) };
    } catch (error) {
      this.#refusedCards.refused(session, `a card of ${peer.node} was not taken: ${reasonOf(error)}`);
      return undefined;
    }
  }

  #cardOf(value: unknown, peer: Peer): AgentCard {
    const { taint: _, ...claimed } = this.#readCard(value, peer);
    const { id } = claimed;
    const { taint, node } = peer;
    return registeredCard({
      ...claimed,
      // The registry has no cards for ids of a system.
      id: id === HOST_ID ? `${node}/${id}` : id,
      origin: 'remote',
      ...(taint === undefined ? {} : { taint: [taint] }),
    });
  }

  /** Looks first at what takes no time. */
  #readCard(value: unknown, { cards, identity, session }: Peer): AgentCard {
    const { id } = (value ?? {}) as { readonly id?: unknown };
    if (typeof id === 'string') {
      if (!mayBeCalled(identity.trust, id)) throw new Error(`its agents may not be called "${id}"`);
      if (!cards.has(id) && cards.size >= MAX_AGENTS) throw new Error(`more than ${MAX_AGENTS} agents`);
    }
    if (JSON.stringify(value).length > MAX_CARD_BYTES) throw new Error(`more than ${MAX_CARD_BYTES} bytes`);
    try {
      const card = parseAgentCard(value);
      if (card.id !== HOST_ID) AgentId.parse(card.id);
      return card;
    } catch (error) {
      if (session !== undefined) this.#refusedCards.unreadable(session);
      throw error;
    }
  }

  #dismiss(members: readonly Member[]): void {
    const ids = members.flatMap(({ name }) => this.#names.idOf(name) ?? []);
    for (const member of members) this.#forget(member);
    if (ids.length > 0) this.#deps.reports.dismiss(ids);
  }

  #forget({ name, peer, id, here }: Member): void {
    this.#channels.gone(name, `${name} has left`);
    this.#members.delete(name);
    this.#names.forget(name);
    peer.cards.delete(id);
    here.reject(agentNotFound(name));
  }

  /** What agents here can do, and who else has what they cannot. */
  #offerTo(peer: Peer): PeerOffer {
    const ids = this.cards().flatMap(({ capabilities }) => capabilities.map(({ id }) => id));
    return {
      capabilities: [...new Set(ids)],
      suggest: (id) => {
        const other = this.#found({ kind: 'capability', id }).find((member) => member.peer !== peer);
        return other && { id: other.name, name: other.card.name };
      },
    };
  }

  /** The agents here that others may ask, and the system itself, which asks them. */
  cards(): readonly AgentCard[] {
    const { table, seams } = this.#deps.thread;
    const view = new RegistryView(
      table,
      ({ party, profile, slot }) => !party.isSystem && slot >= 0 && profile.clearance === undefined,
    );
    return [ownCard(this.#deps.self.node, seams.clock.now()), ...view.getLocalCards()];
  }

  #tellSoon(): void {
    if (this.#isTellPlanned) return;
    this.#isTellPlanned = true;
    queueMicrotask(() => {
      this.#isTellPlanned = false;
      this.node.tellCards();
      if (this.node.endpoints.length > 0) this.#gossip.announce(this.cards(), this.node.endpoints);
    });
  }

  #problem(reason: string): void {
    const { thread } = this.#deps;
    thread.log.note(badCardEvent(reason, thread.seams.clock.now()));
  }
}

/** Where the session's channel was dialled, unless another transport has taken over. */
function addressIn(session: PeerSession | undefined): Pick<PeerRow, 'address'> {
  const address = session?.address;
  return address === undefined || transportOf(address) !== session?.channel.transport ? {} : { address };
}

/** The card of a system itself, under which its embedder asks agents of other nodes. */
const ownCard = (node: string, nowMs: number): AgentCard => ({
  id: HOST_ID,
  name: node,
  version: '1.0.0',
  description: `The system ${node}`,
  tier: 3,
  protocols: ['a2a/1.0'],
  endpoints: [{ transport: 'local' }],
  capabilities: [],
  revision: 0,
  origin: 'local',
  lastSeenAt: nowMs,
});
