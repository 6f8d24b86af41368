import { RELAY_V2_STOP_CODEC } from '@libp2p/circuit-relay-v2';
import { type Multiaddr, multiaddr } from '@multiformats/multiaddr';
import type { Libp2p } from 'libp2p';
import { systemClock } from '../../runtime/protocol/system-seams.ts';
import { relayOf } from './libp2p-relay.ts';

const PAUSE_MS = { first: 1_000, longest: 30_000 };

/** What is used of libp2p's components. */
interface RelayPlacesComponents {
  readonly events: {
    addEventListener(event: 'connection:close', handler: (event: CustomEvent<Closed>) => void): void;
    removeEventListener(event: 'connection:close', handler: (event: CustomEvent<Closed>) => void): void;
  };
  readonly connectionManager: { openConnection(address: Multiaddr): Promise<unknown> };
  readonly transportManager: { getAddrs(): Multiaddr[]; listen(addresses: Multiaddr[]): Promise<void> };
  readonly registrar: {
    getHandler(protocol: string): { readonly handler: Handler; readonly options: object };
    handle(protocol: string, handler: Handler, options: object): Promise<void>;
  };
}
interface Closed {
  readonly remotePeer: { toString(): string };
}
type Handler = Parameters<Libp2p['handle']>[1];

/**
 * Keeps the places that a node has at relays. A place goes with the connection to its relay, and libp2p leaves it at that; this
 * connects again until it succeeds, and takes the place anew.
 *
 * Relayed connections are taken from these relays alone. Any peer may offer one, and libp2p would then ask that peer for a place,
 * and keep what it needs for it.
 */
export class RelayPlaces {
  readonly #places: readonly string[];
  readonly #components: RelayPlacesComponents;
  /** By place: what stops the next attempt. */
  readonly #attempts = new Map<string, () => void>();
  #isRunning = false;

  constructor(places: readonly string[], components: RelayPlacesComponents) {
    this.#places = places;
    this.#components = components;
  }

  start(): void {
    this.#isRunning = true;
    this.#components.events.addEventListener('connection:close', this.#onClose);
  }

  /** Once libp2p handles what is relayed. */
  async afterStart(): Promise<void> {
    const { registrar } = this.#components;
    const { handler, options } = registrar.getHandler(RELAY_V2_STOP_CODEC);
    const relays = new Set(this.#places.map(relayOf));
    const take: Handler = (stream, connection) => {
      if (relays.has(connection.remotePeer.toString())) return handler(stream, connection);
      stream.abort(new Error('there is no place at this relay'));
    };
    await registrar.handle(RELAY_V2_STOP_CODEC, take, { ...options, force: true });
  }

  /** Before the connections are closed, which is no loss. */
  beforeStop(): void {
    this.#isRunning = false;
    this.#components.events.removeEventListener('connection:close', this.#onClose);
    for (const stop of this.#attempts.values()) stop();
    this.#attempts.clear();
  }

  stop(): void {
    this.beforeStop();
  }

  readonly #onClose = ({ detail }: CustomEvent<Closed>): void => {
    for (const place of this.#places)
      if (relayOf(place) === detail.remotePeer.toString() && !this.#attempts.has(place))
        this.#takeAfter(place, PAUSE_MS.first);
  };

  #takeAfter(place: string, pauseMs: number): void {
    const stop = systemClock.setTimer(pauseMs, () => {
      this.#take(place).then(
        () => this.#attempts.delete(place),
        () => {
          if (this.#isRunning) this.#takeAfter(place, Math.min(pauseMs * 2, PAUSE_MS.longest));
        },
      );
    });
    this.#attempts.set(place, stop);
  }

  async #take(place: string): Promise<void> {
    const { connectionManager, transportManager } = this.#components;
    // A listener that fails is kept by libp2p, so nothing listens before the relay answers.
    await connectionManager.openConnection(multiaddr(place.slice(0, -'/p2p-circuit'.length)));
    const isTaken = transportManager
      .getAddrs()
      .some((address) => relayOf(address.toString()) === relayOf(place));
    if (!isTaken) await transportManager.listen([multiaddr(place)]);
  }
}
