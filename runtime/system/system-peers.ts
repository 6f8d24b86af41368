import type { z } from 'zod';
import type { Remote } from '../link/connection.ts';
import type { ControlCalls } from '../control/control-calls.ts';
import { keyInFile } from '../peers/key-file.ts';
import { PeerAddress } from '../peers/peer-address.ts';
import { NodeKey, Trust } from '../peers/trust.ts';
import type { AgentEndpoint } from '../protocol/agent-card.ts';
import { invalidOptions } from '../protocol/errors.ts';
import { parseOptions } from '../protocol/parse-options.ts';
import type { PeerRow } from '../protocol/peer-row.ts';
import type { RefusedPeer } from '../protocol/refused-peer.ts';
import { signingKeyPair } from '../protocol/signing.ts';
import type { TransportSpec } from '../protocol/transport.ts';
import type { PeerOptions } from './peer-options.ts';

/**
 * The other nodes of a team, as this one sees them.
 *
 * - `node`, `publicKey` of this node: what others trust. Undefined in a system without transports.
 * - `addresses`         where others find it.
 */
export interface SystemPeers {
  readonly node: string | undefined;
  readonly publicKey: string | undefined;
  readonly addresses: readonly string[];
  /** Every other node that was there since this one started. */
  list(): Promise<readonly PeerRow[]>;
  /** The last 64 keys that were proved and not let in, the last one first: whoever `trust` names is in it no more. */
  refused(): Promise<readonly RefusedPeer[]>;
  /** Looks for a node at this address, and again whenever it has gone. Fails with INVALID_OPTIONS. */
  dial(address: string): Promise<void>;
  /** Lets in whoever has this key, also one that was revoked; the entry takes the place of a former one. Fails with INVALID_OPTIONS. */
  trust(entry: z.input<typeof Trust>): Promise<void>;
  /** Trusts this key no more: whoever has it is cut off at once, and its agents leave the team. Fails with INVALID_OPTIONS. */
  revoke(publicKey: string): Promise<void>;
}

/** The peers of a system that speaks with none, until `open`. */
export class OwnPeers implements SystemPeers {
  readonly #control: Remote<ControlCalls>;
  node: string | undefined;
  publicKey: string | undefined;
  addresses: readonly string[] = [];

  constructor(control: Remote<ControlCalls>) {
    this.#control = control;
  }

  /** Listens and dials, in a thread of its own. Rejects with INVALID_OPTIONS. */
  async open({
    identity,
    transports,
    addresses,
    trust,
    revoked,
    discover,
    channel,
    agentMesh,
  }: z.output<typeof PeerOptions>): Promise<void> {
    if (transports.length === 0 || identity === undefined) return;
    const { node, key } = identity;
    const keys = typeof key === 'string' ? await keyInFile(key) : (key ?? signingKeyPair());
    const endpoints = await this.#control.openPeers({
      ...{ node, keys, trust, revoked, channel, addresses, dial: discover.dial },
      topics: [...new Set([discover.topic].flat())],
      extension: agentMesh?.spec,
      transports: transports.map(({ spec }) => spec as TransportSpec),
    });
    this.node = node;
    this.publicKey = keys.publicKey;
    this.addresses = endpoints.map(({ address = '' }: AgentEndpoint) => address);
  }

  list(): Promise<readonly PeerRow[]> {
    return this.#control.peers();
  }

  refused(): Promise<readonly RefusedPeer[]> {
    return this.#control.refusedPeers();
  }

  async dial(address: string): Promise<void> {
    this.#requireOpen('address', address);
    await this.#control.dialPeer(parseOptions(PeerAddress, address, 'address'));
  }

  async trust(entry: z.input<typeof Trust>): Promise<void> {
    this.#requireOpen('trust', entry.key);
    await this.#control.trustPeer(parseOptions(Trust, entry, 'trust'));
  }

  async revoke(publicKey: string): Promise<void> {
    this.#requireOpen('publicKey', publicKey);
    await this.#control.revokePeer(parseOptions(NodeKey, publicKey, 'publicKey'));
  }

  #requireOpen(field: string, value: string): void {
    if (this.node === undefined) throw invalidOptions(field, value, 'nothing in a system without transports');
  }
}
