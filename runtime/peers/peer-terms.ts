import type { Clock } from '../protocol/seams.ts';
import { reasonOf } from '../protocol/errors.ts';
import type { PeerAgreement, PeerExtension, PeerOffer } from '../protocol/peer-extension.ts';
import type { SystemEvent } from '../protocol/system-event.ts';
import type { Peer } from './peer.ts';
import { type PeerTermsMessage, PEERS_ID } from './peer-message.ts';
import type { PeerSession } from './peer-session.ts';

/** Capabilities that a node is told of when a session begins; cards have them all. */
const MAX_OFFERED = 1_000;

export interface PeerTermsDeps {
  readonly clock: Pick<Clock, 'now'>;
  readonly note: (event: SystemEvent) => void;
  readonly extension: PeerExtension;
  /** What this node may offer to another one. */
  readonly offerTo: (peer: Peer) => PeerOffer;
}

/** Finds out, when a session with another node begins, what both have in common. */
export class PeerTerms {
  readonly #deps: PeerTermsDeps;
  readonly #begun = new WeakSet<PeerSession>();
  /** Those whose answer is awaited. */
  readonly #asked = new WeakSet<PeerSession>();
  readonly #answered = new WeakSet<PeerSession>();

  constructor(deps: PeerTermsDeps) {
    this.#deps = deps;
  }

  /** Asks, once in each session. */
  begin(session: PeerSession, peer: Peer): void {
    if (this.#begun.has(session)) return;
    this.#begun.add(session);
    this.#asked.add(session);
    const { extension, offerTo } = this.#deps;
    this.#try(peer, () =>
      session.say({
        ...extension.ask(offerTo(peer).capabilities.slice(0, MAX_OFFERED)),
        type: 'capability_negotiation',
      }),
    );
  }

  /** Answers what the other node asks, or takes its answer: once each in a session. */
  hear(message: PeerTermsMessage, session: PeerSession, peer: Peer): void {
    const { extension, offerTo } = this.#deps;
    if (message.type === 'capability_negotiation_response') {
      if (this.#asked.delete(session)) this.#try(peer, () => this.#agree(extension.agreed(message), peer));
      return;
    }
    if (this.#answered.has(session)) return;
    this.#answered.add(session);
    this.#try(peer, () =>
      session.say({
        ...extension.answer(message, offerTo(peer)),
        type: 'capability_negotiation_response',
      }),
    );
  }

  #agree(agreed: PeerAgreement, peer: Peer): void {
    peer.agreed = agreed;
    this.#note('peer-negotiated', peer, {
      success: agreed.unavailable.length === 0,
      reason: sentenceOf(agreed),
    });
  }

  /** What makes no sense, or has no room, is told: the session needs no agreement. */
  #try(peer: Peer, run: () => void): void {
    try {
      run();
    } catch (error) {
      this.#note('warning', peer, { success: false, reason: `it was not negotiated: ${reasonOf(error)}` });
    }
  }

  #note(type: SystemEvent['type'], peer: Peer, more: Partial<SystemEvent>): void {
    const { clock, note } = this.#deps;
    note({ type, timestamp: clock.now(), agentId: PEERS_ID, targetAgentId: peer.node, ...more });
  }
}

/** No sentence names more. */
const MAX_NAMED = 10;

function sentenceOf({ matched, unavailable, schemas, language, paymentMethod }: PeerAgreement): string {
  const parts = [
    listOf('matched', matched),
    listOf('unavailable', unavailable),
    listOf('schemas', schemas),
    listOf('language', language === undefined ? [] : [language]),
    listOf('payment', paymentMethod === undefined ? [] : [paymentMethod]),
  ];
  return parts.filter((part) => part !== '').join('; ') || 'nothing in common';
}

function listOf(what: string, names: readonly string[]): string {
  if (names.length === 0) return '';
  const more = names.length - MAX_NAMED;
  const named = names.slice(0, MAX_NAMED).map((name) => name.slice(0, 128));
  return `${what} ${named.join(', ')}${more > 0 ? `, and ${more} more` : ''}`;
}
