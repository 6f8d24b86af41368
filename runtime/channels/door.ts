import type { Clock } from '../protocol/seams.ts';
import type { Connection, TransportKind } from '../protocol/transport.ts';
import { type ChannelFrame, frameText, type Hello } from './channel-frame.ts';
import type { ChannelSettings } from './channel-options.ts';
import type { SignedProof } from './channel-proof.ts';
import { Line } from './line.ts';

/** What a connection says of itself. `challenge` is what it was asked to prove it by, '' when it was not. */
export interface Introduction {
  readonly hello: Hello;
  readonly challenge: string;
  readonly proof: SignedProof | undefined;
}

export interface DoorDeps {
  readonly clock: Clock;
  readonly settings: ChannelSettings;
  /** A challenge for one connection; '' when nothing has to be proved. */
  readonly challenge: () => string;
  /** Decides about a connection that has said who it is; until then it waits here. */
  readonly onHello: (said: Introduction, line: Line, kind: TransportKind) => void | Promise<void>;
  readonly onTurnedAway: (kind: TransportKind, reason: string) => void;
}

/** More connections than this, that have not said who they are, are more than an honest network makes. */
const MAX_WAITING = 64;

const AWAITED = { hello: 'a hello', proof: 'a proof', decision: 'waiting for an answer' };

/** Where connections from outside wait until they have said who they are, and somebody has decided about them. */
export class Door {
  readonly #deps: DoorDeps;
  readonly #waiting = new Map<Line, () => void>();

  constructor(deps: DoorDeps) {
    this.#deps = deps;
  }

  take(connection: Connection, kind: TransportKind): void {
    const { clock, settings, onTurnedAway } = this.#deps;
    if (this.#waiting.size >= MAX_WAITING) {
      onTurnedAway(kind, `${MAX_WAITING} others have not said hello yet`);
      void connection.close().catch(() => undefined);
      return;
    }
    let trouble: string | undefined;
    const hear = this.#interview(kind);
    const line: Line = new Line(connection, clock, settings, {
      onFrame: (frame) => hear(frame, line),
      onFault: (fault, reason) => {
        trouble = `${fault}: ${reason}`;
      },
      onRoom: () => undefined,
      onLost: (reason) => {
        this.#leave(line);
        onTurnedAway(kind, trouble ?? reason);
      },
    });
    const timeoutMs = settings.handshakeTimeoutMs;
    const cancel = clock.setTimer(timeoutMs, () => line.lose(`no hello within ${timeoutMs} ms`));
    this.#waiting.set(line, cancel);
  }

  /** Ends all that wait. */
  async close(): Promise<void> {
    const lines = [...this.#waiting.keys()];
    for (const line of lines) this.#leave(line);
    await Promise.all(lines.map((line) => line.end()));
  }

  /** Hears a hello and, if there is a challenge, the proof that answers it. */
  #interview(kind: TransportKind): (frame: ChannelFrame, line: Line) => void {
    let awaited: 'hello' | 'proof' | 'decision' = 'hello';
    let hello: Hello | undefined;
    let challenge = '';
    return (frame, line) => {
      if (frame.type === 'hello' && awaited === 'hello') {
        hello = frame;
        challenge = this.#deps.challenge();
        awaited = challenge === '' ? 'decision' : 'proof';
        if (awaited === 'decision') this.#decide({ hello, challenge, proof: undefined }, line, kind);
        else void line.send(frameText({ type: 'challenge', channel: hello.channel, nonce: challenge }));
      } else if (frame.type === 'proof' && awaited === 'proof' && frame.channel === hello?.channel) {
        awaited = 'decision';
        this.#decide({ hello, challenge, proof: frame.proof }, line, kind);
      } else line.lose(`a ${frame.type} instead of ${AWAITED[awaited]}`);
    };
  }

  #decide(said: Introduction, line: Line, kind: TransportKind): void {
    const decided = this.#deps.onHello(said, line, kind);
    if (decided === undefined) this.#leave(line);
    else void decided.finally(() => this.#leave(line));
  }

  #leave(line: Line): void {
    this.#waiting.get(line)?.();
    this.#waiting.delete(line);
  }
}
