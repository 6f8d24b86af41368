import type { Clock } from '../protocol/seams.ts';
import type { Connection, TransportKind } from '../protocol/transport.ts';
import { type ChannelFrame, frameText, type Hello } from './channel-frame.ts';
import type { ChannelSettings } from './channel-options.ts';
import type { SignedProof } from './channel-proof.ts';
import { ChannelConnection } from './channel-connection.ts';

/** A connection's hello. `challenge`: what it was asked to sign; '' without. */
export interface Introduction {
  readonly hello: Hello;
  readonly challenge: string;
  readonly proof: SignedProof | undefined;
}

export interface PendingHandshakesDeps {
  readonly clock: Clock;
  readonly settings: ChannelSettings;
  /** A challenge for one connection; '' when nothing has to be proved. */
  readonly challenge: () => string;
  /** Decides about a connection after its hello; until then it waits here. */
  readonly onHello: (
    said: Introduction,
    connection: ChannelConnection,
    kind: TransportKind,
  ) => void | Promise<void>;
  readonly onTurnedAway: (kind: TransportKind, reason: string) => void;
}

/** How many connections may wait for their hello, and how many may have said it and wait on. */
const MAX_WAITING = 64;

const AWAITED = { hello: 'a hello', proof: 'a proof', decision: 'waiting for an answer' };
type Awaited = keyof typeof AWAITED;

/** A connection that waits: for what, and how its time limit is called off. */
interface Waiting {
  readonly awaited: Awaited;
  readonly cancel: () => void;
}

/**
 * Accepted connections that wait for their hello, and for the decision about it.
 *
 * Whoever comes last is let in: of too many that are silent the oldest gives way, and of too many that have said hello the
 * oldest that has not proved itself. So nobody is kept out by others who connect and go no further, as an honest end goes on
 * within a round trip.
 */
export class PendingHandshakes {
  readonly #deps: PendingHandshakesDeps;
  /** In the order in which they began to wait for what they wait for. */
  readonly #waiting = new Map<ChannelConnection, Waiting>();

  constructor(deps: PendingHandshakesDeps) {
    this.#deps = deps;
  }

  add(transport: Connection, kind: TransportKind): void {
    const { clock, settings, onTurnedAway } = this.#deps;
    let trouble: string | undefined;
    const hear = this.#interview(kind);
    const connection: ChannelConnection = new ChannelConnection(transport, clock, settings, {
      onFrame: (frame) => hear(frame, connection),
      onFault: (fault, reason) => {
        trouble = `${fault}: ${reason}`;
      },
      onRoom: () => undefined,
      onLost: (reason) => {
        this.#leave(connection);
        onTurnedAway(kind, trouble ?? reason);
      },
    });
    const timeoutMs = settings.handshakeTimeoutMs;
    const cancel = clock.setTimer(timeoutMs, () => connection.lose(`no hello within ${timeoutMs} ms`));
    this.#wait(connection, { awaited: 'hello', cancel });
  }

  /** Ends all that wait. */
  async close(): Promise<void> {
    const connections = [...this.#waiting.keys()];
    for (const connection of connections) this.#leave(connection);
    await Promise.all(connections.map((connection) => connection.end()));
  }

  /** Reads a hello and, after a challenge, the proof. */
  #interview(kind: TransportKind): (frame: ChannelFrame, connection: ChannelConnection) => void {
    let hello: Hello | undefined;
    let challenge = '';
    return (frame, connection) => {
      const waiting = this.#waiting.get(connection);
      if (waiting === undefined) return;
      const { awaited } = waiting;
      if (frame.type === 'hello' && awaited === 'hello') {
        hello = frame;
        challenge = this.#deps.challenge();
        if (challenge === '') return this.#decide({ hello, challenge, proof: undefined }, connection, kind);
        this.#wait(connection, { ...waiting, awaited: 'proof' });
        void connection.send(frameText({ type: 'challenge', channel: hello.channel, nonce: challenge }));
      } else if (frame.type === 'proof' && awaited === 'proof' && frame.channel === hello?.channel)
        this.#decide({ hello, challenge, proof: frame.proof }, connection, kind);
      else connection.lose(`a ${frame.type} instead of ${AWAITED[awaited]}`);
    };
  }

  /** From now on it waits for this, as the last of those that do; the oldest gives way if they are too many. */
  #wait(connection: ChannelConnection, waiting: Waiting): void {
    this.#waiting.delete(connection);
    const isSilent = waiting.awaited === 'hello';
    const alike = [...this.#waiting].filter(([, { awaited }]) => (awaited === 'hello') === isSilent);
    this.#waiting.set(connection, waiting);
    if (alike.length < MAX_WAITING) return;
    // Whoever is being judged has given all that was asked of it.
    const [oldest] = alike.find(([, { awaited }]) => awaited !== 'decision') ?? [connection];
    const what = isSilent ? 'connected' : 'said hello';
    oldest.lose(`${MAX_WAITING} others have ${what} since, and it has not gone on`);
  }

  #decide(said: Introduction, connection: ChannelConnection, kind: TransportKind): void {
    const waiting = this.#waiting.get(connection);
    if (waiting !== undefined) this.#wait(connection, { ...waiting, awaited: 'decision' });
    if (connection.isOver) return;
    const decided = this.#deps.onHello(said, connection, kind);
    if (decided === undefined) this.#leave(connection);
    else void decided.finally(() => this.#leave(connection));
  }

  #leave(connection: ChannelConnection): void {
    this.#waiting.get(connection)?.cancel();
    this.#waiting.delete(connection);
  }
}
