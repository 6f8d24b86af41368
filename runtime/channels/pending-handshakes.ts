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

/** How many connections may wait for their hello. */
const MAX_WAITING = 64;

const AWAITED = { hello: 'a hello', proof: 'a proof', decision: 'waiting for an answer' };

/** Accepted connections that wait for their hello, and for the decision about it. */
export class PendingHandshakes {
  readonly #deps: PendingHandshakesDeps;
  readonly #waiting = new Map<ChannelConnection, () => void>();

  constructor(deps: PendingHandshakesDeps) {
    this.#deps = deps;
  }

  add(transport: Connection, kind: TransportKind): void {
    const { clock, settings, onTurnedAway } = this.#deps;
    if (this.#waiting.size >= MAX_WAITING) {
      onTurnedAway(kind, `${MAX_WAITING} others have not said hello yet`);
      void transport.close().catch(() => undefined);
      return;
    }
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
    this.#waiting.set(connection, cancel);
  }

  /** Ends all that wait. */
  async close(): Promise<void> {
    const connections = [...this.#waiting.keys()];
    for (const connection of connections) this.#leave(connection);
    await Promise.all(connections.map((connection) => connection.end()));
  }

  /** Reads a hello and, after a challenge, the proof. */
  #interview(kind: TransportKind): (frame: ChannelFrame, connection: ChannelConnection) => void {
    let awaited: 'hello' | 'proof' | 'decision' = 'hello';
    let hello: Hello | undefined;
    let challenge = '';
    return (frame, connection) => {
      if (frame.type === 'hello' && awaited === 'hello') {
        hello = frame;
        challenge = this.#deps.challenge();
        awaited = challenge === '' ? 'decision' : 'proof';
        if (awaited === 'decision') this.#decide({ hello, challenge, proof: undefined }, connection, kind);
        else void connection.send(frameText({ type: 'challenge', channel: hello.channel, nonce: challenge }));
      } else if (frame.type === 'proof' && awaited === 'proof' && frame.channel === hello?.channel) {
        awaited = 'decision';
        this.#decide({ hello, challenge, proof: frame.proof }, connection, kind);
      } else connection.lose(`a ${frame.type} instead of ${AWAITED[awaited]}`);
    };
  }

  #decide(said: Introduction, connection: ChannelConnection, kind: TransportKind): void {
    const decided = this.#deps.onHello(said, connection, kind);
    if (decided === undefined) this.#leave(connection);
    else void decided.finally(() => this.#leave(connection));
  }

  #leave(connection: ChannelConnection): void {
    this.#waiting.get(connection)?.();
    this.#waiting.delete(connection);
  }
}
