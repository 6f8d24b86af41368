import { beginSession, type GivenSession } from '../session/begin-session.ts';
import { HANDSHAKE_PROTOCOL } from '../session/handshake.ts';
import type { LangoNode } from '../session/lango-node.ts';
import { type ByteStream, inTime, type LangoPeer } from '../wire/byte-stream.ts';
import { streamNotOpened } from './stream-not-opened.ts';

const HANDSHAKE_MS = 30_000;
/** So long before its end a session is taken to be over: a request needs its time, too. */
const SPARE_MS = 1_000;

/** Our session with a peer: begun when it is needed, and anew when it is over. */
export class LangoSession {
  readonly #node: LangoNode;
  readonly #address: string;
  #given: GivenSession | undefined;
  #beginning: Promise<GivenSession> | undefined;
  #peer: LangoPeer | undefined;

  constructor(node: LangoNode, address: string) {
    this.#node = node;
    this.#address = address;
  }

  /** Whom it is with, as the transport has proved it; undefined before the first session. */
  get peer(): LangoPeer | undefined {
    return this.#peer;
  }

  /** The token of the session. Rejects with REMOTE_UNREACHABLE, as `beginSession` does, and with CANCELLED. */
  async token({ signal }: { readonly signal?: AbortSignal } = {}): Promise<string> {
    const given = this.#given;
    if (given !== undefined && given.expiresAtMs - SPARE_MS > this.#node.seams.clock.now())
      return given.token;
    // Whoever comes meanwhile waits for the same.
    if (this.#beginning === undefined) {
      this.#beginning = this.#begin().finally(() => {
        this.#beginning = undefined;
      });
      // It fails also where nobody waits for it any more.
      this.#beginning.catch(() => undefined);
    }
    const beginning = this.#beginning;
    const limit = { what: `The handshake with ${this.#address}`, ms: HANDSHAKE_MS, signal };
    return (await inTime(this.#node.seams.clock, limit, () => beginning)).token;
  }

  /** Forgets a token that the peer takes no more. */
  drop(token: string): void {
    if (this.#given?.token === token) this.#given = undefined;
  }

  async #begin(): Promise<GivenSession> {
    const { identity, seams } = this.#node;
    const limit = { what: `The handshake with ${this.#address}`, ms: HANDSHAKE_MS };
    this.#given = await inTime(seams.clock, limit, async (signal) => {
      const { stream, peer } = await this.#opened(signal);
      this.#peer = peer;
      return beginSession(stream, { identity, peer, timeoutMs: HANDSHAKE_MS, signal }, seams);
    });
    return this.#given;
  }

  async #opened(signal: AbortSignal): Promise<{ readonly stream: ByteStream; readonly peer: LangoPeer }> {
    try {
      return await this.#node.open(this.#address, HANDSHAKE_PROTOCOL, { signal });
    } catch (error) {
      throw streamNotOpened(this.#address, error);
    }
  }
}
