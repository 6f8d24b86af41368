import type { A2AChannel } from '../channels/a2a-channel.ts';
import type { ChannelManager } from '../channels/channel-manager.ts';
import { Fifo } from '../mailbox/fifo.ts';
import type { AgentEndpoint } from '../protocol/agent-card.ts';
import { BackOff } from '../protocol/back-off.ts';
import { backOffMs } from '../protocol/back-off-ms.ts';
import type { Seams } from '../protocol/seams.ts';
import { PEERS_ID } from './peer-message.ts';
import type { PeerSession } from './peer-session.ts';

const REDIAL = BackOff.parse({ firstMs: 100, maxMs: 10_000 });
/** How long an end that was found, and that does not let this node in or is not let in, is left alone. */
const REFUSED = BackOff.parse({ firstMs: 60_000, maxMs: 3_600_000 });
/** So many found ends are remembered, and so many of those dialled at a time. */
const MAX_FOUND = 1_024;
const MAX_DIALLED = 32;
/** A found end where so often in a row nobody was is forgotten, until it is found again. */
const FAILURES_UNTIL_GONE = 5;

/** Where a channel goes to. */
export interface ChannelGoal {
  /** Asked for before every attempt to connect. */
  endpoints(): readonly AgentEndpoint[];
  /** The key that whoever answers there has to have; undefined where any trusted one will do. */
  key(): string | undefined;
}

/** The node that dials. */
export interface DiallerUser {
  /** Makes what opens channels to there. */
  newManager(goal: ChannelGoal): ChannelManager;
  /** Lets the node at the other end in; undefined where it may not. */
  join(channel: A2AChannel): PeerSession | undefined;
  /** The session that carries requests to the node with this key. */
  inUseWith(publicKey: string): PeerSession | undefined;
  /** Where the node with this key says that it can be dialled. */
  endpointsOf(publicKey: string): readonly AgentEndpoint[];
  /** A node could not be dialled, or has gone. */
  onFailed(): void;
}

/** Where a node is thought to be. */
interface Target {
  readonly name: string;
  readonly endpoint: AgentEndpoint;
  readonly manager: ChannelManager;
  /** Strangers have said that a node is there. */
  readonly isFound: boolean;
  /** In a row, and those of them in which somebody was there. */
  failures: number;
  refusals: number;
  /** Nobody has answered there yet, and nobody has failed to. */
  isNew: boolean;
  /** Whose node was there last. */
  key: string | undefined;
  /** Where it is looked for now: at the endpoint, wherever else it says that it is, or anywhere while it has a channel. */
  at: 'endpoint' | 'elsewhere' | 'anywhere';
  /** It is not dialled before a while has passed; `stop` ends that. */
  isResting: boolean;
  stop: () => void;
}

/** Looks for other nodes where they are thought to be, and again whenever they have gone. */
export class PeerDialler {
  readonly #user: DiallerUser;
  readonly #seams: Pick<Seams, 'clock' | 'random'>;
  readonly #targets = new Map<string, Target>();
  /** Found ends that wait until fewer are dialled. */
  readonly #waiting = new Fifo<Target>();
  #found = 0;
  #dialled = 0;
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
    this.#add(endpoint, false);
  }

  /** As `dial`, at an address that strangers know: only so many at a time, and no more when it has failed for long. */
  dialFound(endpoint: AgentEndpoint): void {
    if (this.#found < MAX_FOUND) this.#add(endpoint, true);
  }

  /** Who is let in has changed: dials at once wherever a node was refused, or has refused this one. */
  retry(): void {
    for (const target of this.#targets.values()) {
      if (!target.isResting || target.refusals === 0) continue;
      target.stop();
      target.refusals = 0;
      this.#begin(target);
    }
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

  #add(endpoint: AgentEndpoint, isFound: boolean): void {
    const name = nameOf(endpoint);
    if (this.#targets.has(name) || this.#isClosed) return;
    const target: Target = {
      ...{
        name,
        endpoint,
        isFound,
        failures: 0,
        refusals: 0,
        isNew: true,
        isResting: false,
        key: undefined,
        at: 'endpoint',
      },
      stop: () => undefined,
      manager: this.#user.newManager({
        endpoints: () => this.#endpointsOf(target),
        // A channel that was open knows whose it is.
        key: () => (target.at === 'elsewhere' ? target.key : undefined),
      }),
    };
    this.#targets.set(name, target);
    if (isFound) this.#found += 1;
    this.#begin(target);
  }

  #begin(target: Target): void {
    target.isResting = false;
    if (!target.isFound) void this.#dial(target, () => undefined);
    else if (this.#dialled >= MAX_DIALLED) this.#waiting.push(target);
    else {
      this.#dialled += 1;
      void this.#dial(target, () => {
        this.#dialled -= 1;
        const next = this.#waiting.shift();
        if (next !== undefined && !this.#isClosed) this.#begin(next);
      });
    }
  }

  /** Calls `dialled` when the node has answered, or has not. */
  async #dial(target: Target, dialled: () => void): Promise<void> {
    const session = await this.#openAt(target).finally(dialled);
    if (session !== undefined) {
      session.whenUsed(() => {
        target.isNew = false;
      });
      await new Promise<void>((resolve) => this.#whenOver(session, resolve));
    }
    target.isNew = false;
    this.#user.onFailed();
    this.#dialAgain(target);
  }

  /** Undefined, and counted, when nobody who may is there. */
  async #openAt(target: Target): Promise<PeerSession | undefined> {
    // Who was there before is every other time looked for where it says that it is.
    target.at = target.failures % 2 === 1 && this.#elsewhere(target).length > 0 ? 'elsewhere' : 'endpoint';
    try {
      const session = this.#user.join(await target.manager.openChannel(PEERS_ID, PEERS_ID));
      if (session === undefined) throw new Error('the node is not let in');
      session.address = target.endpoint.address;
      target.failures = 0;
      target.refusals = 0;
      target.key = session.publicKey;
      target.at = 'anywhere';
      return session;
    } catch (error) {
      target.failures += 1;
      if (target.at === 'endpoint' && isRefusal(error)) target.refusals += 1;
      return undefined;
    }
  }

  #dialAgain(target: Target): void {
    if (this.#isClosed) return;
    const { clock, random } = this.#seams;
    const { isFound, failures, refusals } = target;
    if (isFound && failures - refusals >= FAILURES_UNTIL_GONE) {
      this.#targets.delete(target.name);
      this.#found -= 1;
      return;
    }
    const waitMs =
      isFound && refusals > 0 ? backOffMs(REFUSED, refusals, random) : backOffMs(REDIAL, failures, random);
    target.isResting = true;
    target.stop = clock.setTimer(waitMs, () => this.#begin(target));
  }

  #endpointsOf(target: Target): readonly AgentEndpoint[] {
    if (target.at === 'endpoint') return [target.endpoint];
    const elsewhere = this.#elsewhere(target);
    return target.at === 'elsewhere' ? elsewhere : [target.endpoint, ...elsewhere];
  }

  /** Where the node says that it is, apart from the endpoint. */
  #elsewhere({ name, key }: Target): readonly AgentEndpoint[] {
    if (key === undefined) return [];
    return this.#user.endpointsOf(key).filter((endpoint) => nameOf(endpoint) !== name);
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

const nameOf = ({ transport, address }: AgentEndpoint): string => `${transport} ${address}`;

/** Somebody is there, and the two are not to speak. */
const isRefusal = (error: unknown): boolean =>
  ['REFUSED', 'AGENT_NOT_FOUND', 'SCHEMA_VERSION_MISMATCH'].includes((error as { code?: string }).code ?? '');
