import type { A2AChannel } from '../channels/a2a-channel.ts';
import type { ChannelManager } from '../channels/channel-manager.ts';
import type { AgentEndpoint } from '../protocol/agent-card.ts';
import { BackOff } from '../protocol/back-off.ts';
import { backOffMs } from '../protocol/back-off-ms.ts';
import type { Seams } from '../protocol/seams.ts';
import { PEERS_ID } from './peer-message.ts';
import type { PeerSession } from './peer-session.ts';

const REDIAL = BackOff.parse({ firstMs: 100, maxMs: 10_000 });

/** The node that dials. */
export interface DiallerUser {
  /** Makes what opens channels to the node at these endpoints, which are asked for before every attempt to connect. */
  newManager(endpoints: () => readonly AgentEndpoint[]): ChannelManager;
  /** Lets the node at the other end in; undefined where it may not. */
  join(channel: A2AChannel): PeerSession | undefined;
  /** The session that carries requests to the node with this key. */
  inUseWith(publicKey: string): PeerSession | undefined;
  /** A node could not be dialled, or has gone. */
  onFailed(): void;
}

/** Where a node is thought to be. */
interface Target {
  readonly endpoint: AgentEndpoint;
  readonly manager: ChannelManager;
  failures: number;
  /** Nobody has answered there yet, and nobody has failed to. */
  isNew: boolean;
  stop: () => void;
}

/** Looks for other nodes where they are thought to be, and again whenever they have gone. */
export class PeerDialler {
  readonly #user: DiallerUser;
  readonly #seams: Pick<Seams, 'clock' | 'random'>;
  readonly #targets = new Map<string, Target>();
  #isClosed = false;

  constructor(user: DiallerUser, seams: Pick<Seams, 'clock' | 'random'>) {
    this.#user = user;
    this.#seams = seams;
  }

  /** Somewhere nobody has answered yet, and nobody has failed to. */
  get isMeeting(): boolean {
    for (const { isNew } of this.#targets.values()) if (isNew) return true;
    return false;
  }

  /** Looks for a node at this address, and again whenever it has gone. */
  dial(endpoint: AgentEndpoint): void {
    const key = `${endpoint.transport} ${endpoint.address}`;
    if (this.#targets.has(key) || this.#isClosed) return;
    const target: Target = {
      endpoint,
      manager: this.#user.newManager(() => [endpoint]),
      failures: 0,
      isNew: true,
      stop: () => undefined,
    };
    this.#targets.set(key, target);
    void this.#dialNow(target);
  }

  /** Dials no more. */
  stop(): void {
    this.#isClosed = true;
    for (const { stop } of this.#targets.values()) stop();
  }

  /** Resolves when the channels that it opened are closed. */
  async closeAll(): Promise<void> {
    await Promise.all([...this.#targets.values()].map(({ manager }) => manager.closeAll()));
  }

  async #dialNow(target: Target): Promise<void> {
    try {
      const channel = await target.manager.openChannel(PEERS_ID, PEERS_ID);
      const session = this.#user.join(channel);
      if (session === undefined) throw new Error('the node is not let in');
      session.address = target.endpoint.address;
      target.failures = 0;
      session.whenUsed(() => {
        target.isNew = false;
      });
      await new Promise<void>((resolve) => this.#whenOver(session, resolve));
    } catch {
      target.failures += 1;
    }
    target.isNew = false;
    this.#user.onFailed();
    this.#dialAgain(target);
  }

  #dialAgain(target: Target): void {
    if (this.#isClosed) return;
    const { clock, random } = this.#seams;
    const waitMs = backOffMs(REDIAL, target.failures, random);
    target.stop = clock.setTimer(waitMs, () => void this.#dialNow(target));
  }

  /** Calls `done` when the session is over; or, where another one is in use instead, when that is. */
  #whenOver(session: PeerSession, done: () => void): void {
    session.whenOver(() => {
      const inUse = this.#user.inUseWith(session.publicKey);
      if (inUse === undefined || inUse === session) done();
      else this.#whenOver(inUse, done);
    });
  }
}
