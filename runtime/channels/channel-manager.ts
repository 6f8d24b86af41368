import { z } from 'zod';
import type { AgentEndpoint } from '../protocol/agent-card.ts';
import { bindMethods } from '../protocol/bind-methods.ts';
import { agentNotFound, invalidOptions, reasonOf } from '../protocol/errors.ts';
import type { A2ALogEvent } from '../protocol/log-event.ts';
import { parseOptions } from '../protocol/parse-options.ts';
import type { Seams, Clock } from '../protocol/seams.ts';
import { systemSeams } from '../protocol/system-seams.ts';
import type { Listener, Transport, TransportKind } from '../protocol/transport.ts';
import type { A2AChannel } from './a2a-channel.ts';
import { ChannelEnd } from './channel-end.ts';
import {
  type ChannelCounts,
  type ChannelEvent,
  type ChannelIdentity,
  type ChannelEventBody,
  channelLogEvent,
} from './channel-event.ts';
import { CHANNEL_PROTOCOL_VERSION, frameText, type Hello } from './channel-frame.ts';
import { ChannelOptions, type ChannelSettings } from './channel-options.ts';
import type { ChannelProof } from './channel-proof.ts';
import { type CredentialOptions, Credentials, type HelloRefusal } from './credentials.ts';
import { Dialer } from './dialer.ts';
import { PendingHandshakes, type Introduction } from './pending-handshakes.ts';
import type { ChannelConnection } from './channel-connection.ts';

/**
 * - `transports`  what connects to others, and what `listen` takes connections from; preferred ones first.
 * - `hosts`       says whether this manager speaks for an agent.
 * - `endpointsOf` where an agent can be reached, such as `(id) => registry.getById(id)?.endpoints ?? []`; asked again for
 *                 every attempt to connect.
 * - `channel`     how channels wait, try again and bound what they keep.
 * - `maxAccepted` channels that others have opened, at most. @default 1_024
 * - `log`         hears what an operator wants to, such as `(event) => observability.emit(event)`.
 */
export interface ChannelManagerOptions extends CredentialOptions {
  readonly transports: readonly Transport[];
  readonly hosts: (agentId: string) => boolean;
  readonly endpointsOf: (agentId: string) => readonly AgentEndpoint[] | Promise<readonly AgentEndpoint[]>;
  readonly channel?: ChannelOptions;
  readonly maxAccepted?: number;
  readonly log?: (event: A2ALogEvent) => void;
  readonly seams?: Pick<Seams, 'clock' | 'newId' | 'random'>;
}

/** The connection over which a hello was accepted, and what was proved on it. */
interface Accepted {
  readonly connection: ChannelConnection;
  readonly kind: TransportKind;
  readonly proof: ChannelProof | undefined;
}

/** A transport that takes connections. */
interface Listening {
  readonly transport: TransportKind;
  readonly listener: Listener;
}

const MaxAccepted = z.int().nonnegative().default(1_024);

/**
 * Opens channels to agents elsewhere, and accepts those that others open to ours (seed 1). Needs no thread and no server.
 *
 * An id may be guessed or overheard: a hello proves nothing, unless the transport does or proofs are required. A proof is
 * of who opens; that nobody else speaks afterwards is for the transport to see to. Fails at construction with
 * INVALID_OPTIONS naming field and value.
 */
export class ChannelManager {
  readonly #options: ChannelManagerOptions;
  readonly #seams: Pick<Seams, 'clock' | 'newId' | 'random'>;
  readonly #settings: ChannelSettings;
  readonly #maxAccepted: number;
  readonly #reports: ChannelReports;
  readonly #credentials: Credentials;
  readonly #handshakes: PendingHandshakes;
  // Both ends of a channel can live here, so the two kinds are apart.
  readonly #opened = new Map<string, ChannelEnd>();
  readonly #accepted = new Map<string, ChannelEnd>();
  readonly #onChannel = new Set<{ readonly handle: (channel: A2AChannel) => void }>();
  #listeners: Promise<readonly Listening[]> | undefined;

  static {
    bindMethods(ChannelManager.prototype);
  }

  constructor(options: ChannelManagerOptions) {
    this.#options = options;
    this.#seams = options.seams ?? systemSeams();
    this.#settings = parseOptions(ChannelOptions, options.channel ?? {}, 'channel');
    this.#maxAccepted = parseOptions(MaxAccepted, options.maxAccepted, 'maxAccepted');
    if (options.transports.length === 0) throw invalidOptions('transports', [], 'at least one transport');
    const { log } = options;
    this.#reports = new ChannelReports(this.#seams.clock);
    if (log !== undefined)
      this.#reports.onEvent((event) => {
        const logged = channelLogEvent(event);
        if (logged !== undefined) log(logged);
      });
    this.#credentials = new Credentials(options);
    this.#handshakes = new PendingHandshakes({
      clock: this.#seams.clock,
      settings: this.#settings,
      challenge: () => this.#credentials.challenge(),
      onHello: (said, connection, kind) => this.#onHello(said, connection, kind),
      onTurnedAway: (transport, reason) =>
        this.#reports.add({ type: 'connection-refused', transport, reason }),
    });
  }

  /**
   * Takes connections on every transport, until `closeAll`. Resolves to where: what others connect to. Rejects as their `listen`
   * does; then on none.
   */
  async listen(): Promise<readonly AgentEndpoint[]> {
    this.#listeners ??= this.#listenEverywhere();
    const listening = await this.#listeners;
    return listening.map(({ transport, listener: { address } }) => ({ transport, address }));
  }

  /**
   * Opens a channel between an agent of ours and another. It is listed at once, `connecting`; resolves when both ends have
   * acknowledged.
   *
   * Rejects with AGENT_NOT_FOUND when the local agent is not ours or the other end does not host the remote one,
   * SCHEMA_VERSION_MISMATCH or REFUSED when the other end says so, and CHANNEL_CLOSED when it is closed, or not open in
   * time; the message says why.
   */
  async openChannel(localAgentId: string, remoteAgentId: string): Promise<A2AChannel> {
    const { hosts, transports, endpointsOf } = this.#options;
    if (!hosts(localAgentId)) throw agentNotFound(localAgentId);
    const identity = { channelId: this.#seams.newId(), localAgentId, remoteAgentId };
    const dialer = new Dialer({
      seams: this.#seams,
      transports,
      endpoints: () => endpointsOf(remoteAgentId),
      redial: this.#settings.redial,
      timeoutMs: this.#settings.handshakeTimeoutMs,
    });
    const kind = transports[0]?.kind ?? 'local';
    const end = this.#begin(identity, kind, { dialer, among: this.#opened });
    end.start();
    await end.opened;
    return end;
  }

  /** The channel, until it is closed. Where both its ends are here, the one that was opened. */
  getChannel(channelId: string): A2AChannel | undefined {
    return this.#opened.get(channelId) ?? this.#accepted.get(channelId);
  }

  /** All channels that are not closed: those opened here, then those accepted. */
  listChannels(): A2AChannel[] {
    return [...this.#opened.values(), ...this.#accepted.values()];
  }

  /** Closes every channel and takes no more connections. Resolves when nothing is left; the manager can be used again. */
  async closeAll(): Promise<void> {
    const listening = this.#listeners;
    this.#listeners = undefined;
    const closing = this.listChannels().map((channel) => channel.close());
    const listeners = await (listening ?? Promise.resolve([])).catch(() => []);
    await Promise.all([
      ...listeners.map(({ listener }) => listener.close()),
      ...closing,
      this.#handshakes.close(),
    ]);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.closeAll();
  }

  /** Calls `handler` with each channel that another agent opened to one of ours, when it is open. */
  onChannel(handler: (channel: A2AChannel) => void): () => void {
    const entry = { handle: handler };
    this.#onChannel.add(entry);
    return () => {
      this.#onChannel.delete(entry);
    };
  }

  /** Calls `listener` with what happens, after it happened; one that throws does not keep the others from hearing it. */
  onEvent(listener: (event: ChannelEvent) => void): () => void {
    return this.#reports.onEvent(listener);
  }

  /** How many events of each type there were. */
  counts(): ChannelCounts {
    return this.#reports.counts();
  }

  async #listenEverywhere(): Promise<readonly Listening[]> {
    const { transports } = this.#options;
    const asked = await Promise.allSettled(
      transports.map(async (transport) => ({
        transport: transport.kind,
        listener: await transport.listen((connection) => this.#handshakes.add(connection, transport.kind)),
      })),
    );
    const listeners = asked.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    const failure = asked.find((one) => one.status === 'rejected');
    if (failure === undefined) return listeners;
    this.#listeners = undefined;
    await Promise.all(listeners.map(({ listener }) => listener.close()));
    throw failure.reason;
  }

  #onHello(said: Introduction, connection: ChannelConnection, kind: TransportKind): void | Promise<void> {
    const { hello, challenge } = said;
    const { channel: channelId, from: remoteAgentId, to: localAgentId } = hello;
    const identity = { channelId, localAgentId, remoteAgentId };
    const refuse = ({ code, reason }: HelloRefusal): void => {
      this.#reports.of(identity)({ type: 'hello-refused', errorCode: code, reason });
      void connection.end(frameText({ type: 'refuse', channel: channelId, code, reason }));
    };
    const refusal = this.#refusalOf(hello, identity);
    if (refusal !== undefined) return refuse(refusal);
    const challenges = { ofReader: challenge, ofGiver: hello.nonce ?? '' };
    const proof = this.#credentials.check(hello, challenges, said.proof);
    if (typeof proof === 'string') return refuse({ code: 'REFUSED', reason: proof });
    const decide = (kept: HelloRefusal | undefined): void => {
      if (connection.isOver) return;
      const late =
        kept ?? this.#refusalOf(hello, identity) ?? this.#accept(said, identity, { connection, kind, proof });
      if (late !== undefined) refuse(late);
    };
    const { resumes } = hello;
    const kept = this.#credentials.admit({ ...identity, isOurs: false, resumes, transport: kind, proof });
    return kept instanceof Promise ? kept.then(decide) : decide(kept);
  }

  /** Refusals that need no `admit`; asked again afterwards, because they may have changed. */
  #refusalOf({ version, channel, resumes }: Hello, asked: ChannelIdentity): HelloRefusal | undefined {
    if (version !== CHANNEL_PROTOCOL_VERSION) {
      const reason = `channel protocol ${version} is not spoken here, ${CHANNEL_PROTOCOL_VERSION} is`;
      return { code: 'SCHEMA_VERSION_MISMATCH', reason };
    }
    if (!this.#options.hosts(asked.localAgentId))
      return { code: 'AGENT_NOT_FOUND', reason: `"${asked.localAgentId}" is not here` };
    if (this.#accepted.has(channel)) return undefined;
    if (resumes) return { code: 'CHANNEL_CLOSED', reason: `there is no channel ${channel} here` };
    if (this.#accepted.size >= this.#maxAccepted)
      return { code: 'MAILBOX_FULL', reason: `there are ${this.#maxAccepted} channels already` };
    return undefined;
  }

  #accept(
    { hello, challenge }: Introduction,
    identity: ChannelIdentity,
    by: Accepted,
  ): HelloRefusal | undefined {
    const { connection, kind, proof } = by;
    const taken = { connection, hello, challenge, transport: kind, publicKey: proof?.publicKey };
    const known = this.#accepted.get(identity.channelId);
    if (known !== undefined) return known.accept(taken);
    if (hello.received > 0) return { code: 'REFUSED', reason: 'a new channel has received nothing' };
    const end = this.#begin(identity, kind, { among: this.#accepted });
    end.start();
    return end.accept(taken);
  }

  #begin(
    identity: ChannelIdentity,
    kind: TransportKind,
    { dialer, among }: { readonly dialer?: Dialer; readonly among: Map<string, ChannelEnd> },
  ): ChannelEnd {
    const report = this.#reports.of(identity);
    const end = new ChannelEnd(identity, kind, {
      clock: this.#seams.clock,
      settings: this.#settings,
      credentials: this.#credentials,
      ...(dialer === undefined ? {} : { dialer }),
      report,
      keeper: {
        opened: (end) => {
          if (dialer === undefined) this.#tell(end, identity);
        },
        closed: ({ id }) => among.delete(id),
      },
    });
    among.set(identity.channelId, end);
    return end;
  }

  #tell(channel: A2AChannel, identity: ChannelIdentity): void {
    for (const { handle } of [...this.#onChannel]) {
      try {
        handle(channel);
      } catch (error) {
        const reason = reasonOf(error);
        this.#reports.of(identity)({ type: 'handler-failed', reason });
      }
    }
  }
}

type Untimed<Event> = Event extends unknown ? Omit<Event, 'timestamp'> : never;

/** Counts events of channels, and passes them to listeners. */
class ChannelReports {
  readonly #clock: Clock;
  readonly #listeners = new Set<{ readonly listen: (event: ChannelEvent) => void }>();
  readonly #counts: Record<ChannelEvent['type'], number> = {
    'channel-status': 0,
    'delivery-retried': 0,
    'delivery-failed': 0,
    'frame-skipped': 0,
    'handler-failed': 0,
    'hello-refused': 0,
    'connection-refused': 0,
  };

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The function that the ends of one channel report to. */
  of(identity: ChannelIdentity): (event: ChannelEventBody) => void {
    return (event) => this.add({ ...event, ...identity });
  }

  add(event: Untimed<ChannelEvent>): void {
    this.#counts[event.type] += 1;
    if (this.#listeners.size === 0) return;
    const timed = { ...event, timestamp: this.#clock.now() } as ChannelEvent;
    // Later, because a listener may close the channel.
    queueMicrotask(() => this.#tell(timed));
  }

  onEvent(listener: (event: ChannelEvent) => void): () => void {
    const entry = { listen: listener };
    this.#listeners.add(entry);
    return () => {
      this.#listeners.delete(entry);
    };
  }

  counts(): ChannelCounts {
    return { ...this.#counts };
  }

  #tell(event: ChannelEvent): void {
    for (const { listen } of [...this.#listeners]) {
      try {
        listen(event);
      } catch {
        // A listener's error ends nothing.
      }
    }
  }
}
