import type { A2AEnvelope } from '../../runtime/protocol/envelope.ts';
import { EnvelopeHands } from './envelope-hands.ts';
import { OwnedSwarms } from './owned-swarms.ts';
import type { Negotiator } from './recruiter.ts';
import type { SwarmMedium } from './swarm-medium.ts';
import { SwarmRequests } from './swarm-requests.ts';
import { faultIn } from './swarm-requests.ts';
import type { SwarmSession } from './swarm-session.ts';
import { InMemorySwarmStore, type SwarmStore } from './swarm-store.ts';

/**
 * - `medium`     how envelopes come and go, in the agent's name.
 * - `negotiator` of the same agent: makes the proposals.
 * - `store`      where swarms are kept. @default in memory
 */
export interface SwarmCoordinatorOptions {
  readonly medium: SwarmMedium;
  readonly negotiator: Negotiator;
  readonly store?: SwarmStore;
}

/** How many swarms of others are remembered. */
const PICTURES_KEPT = 64;

/** The swarms of one agent, and its part in those of others: what all faces of its coordinator share. */
export class CoordinatorCore {
  readonly medium: SwarmMedium;
  readonly owned: OwnedSwarms;
  readonly negotiator: Negotiator;
  readonly envelopes: EnvelopeHands;
  readonly post: SwarmRequests;
  readonly #pictures = new Map<string, SwarmSession>();
  readonly #stopListening: () => void;

  constructor({ medium, negotiator, store = new InMemorySwarmStore() }: SwarmCoordinatorOptions) {
    this.medium = medium;
    this.negotiator = negotiator;
    const { agentId, seams } = medium;
    this.owned = new OwnedSwarms({ ownerId: agentId, seams, store, taint: () => medium.taint });
    this.envelopes = new EnvelopeHands(medium);
    this.post = new SwarmRequests(medium, (callerId, request, taint) => {
      if (taint !== undefined) this.owned.tainted(request, taint);
      return this.owned.answer(callerId, request);
    });
    this.#stopListening = medium.listen((envelope) => this.receive(envelope));
  }

  /** The swarms of others, as they were last shown to this agent. */
  get pictures(): ReadonlyMap<string, SwarmSession> {
    return this.#pictures;
  }

  shown(session: SwarmSession): void {
    this.#pictures.delete(session.id);
    this.#pictures.set(session.id, session);
    const [oldest] = this.#pictures.keys();
    if (oldest !== undefined && this.#pictures.size > PICTURES_KEPT) this.#pictures.delete(oldest);
  }

  close(): void {
    this.#stopListening();
    this.owned.close();
    this.post.close();
  }

  /** Takes an envelope that has come for the agent; false when it is none of a swarm. */
  receive(envelope: A2AEnvelope): boolean {
    return this.post.receive(envelope) || this.envelopes.receive(envelope) || this.#receiveLate(envelope);
  }

  /** An answer to a request that handed out an assignment, long after anybody listened to it. */
  #receiveLate(envelope: A2AEnvelope): boolean {
    const { type, sender, payload } = envelope;
    if (type === 'response') return this.owned.reportLate(sender, envelope, { result: payload });
    if (type === 'error') return this.owned.reportLate(sender, envelope, { error: faultIn(payload) });
    return false;
  }
}
