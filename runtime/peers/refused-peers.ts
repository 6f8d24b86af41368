import type { RefusedPeer } from '../protocol/refused-peer.ts';

/** So many keys are remembered, those that were refused last. */
const MAX_REFUSED = 64;
const MAX_NAME = 128;
const MAX_REASON = 512;

/** Keys that were not let in lately, so that the owner of a node can let one in. */
export class RefusedPeers {
  /** That which was refused last is the last. */
  readonly #peers = new Map<string, RefusedPeer>();

  add({ node, reason, ...refused }: Omit<RefusedPeer, 'times'>): void {
    const { publicKey } = refused;
    const times = (this.#peers.get(publicKey)?.times ?? 0) + 1;
    this.#peers.delete(publicKey);
    this.#peers.set(publicKey, {
      ...refused,
      node: node.slice(0, MAX_NAME),
      reason: reason.slice(0, MAX_REASON),
      times,
    });
    const [oldest] = this.#peers.keys();
    if (this.#peers.size > MAX_REFUSED && oldest !== undefined) this.#peers.delete(oldest);
  }

  /** It is let in from now on. */
  forget(publicKey: string): void {
    this.#peers.delete(publicKey);
  }

  /** That which was refused last is the first. */
  list(): readonly RefusedPeer[] {
    return [...this.#peers.values()].reverse();
  }
}
