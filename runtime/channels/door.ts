import type { Clock } from '../protocol/seams.ts';
import type { Connection, TransportKind } from '../protocol/transport.ts';
import type { Hello } from './channel-frame.ts';
import type { ChannelSettings } from './channel-options.ts';
import { Line } from './line.ts';

export interface DoorDeps {
  readonly clock: Clock;
  readonly settings: ChannelSettings;
  readonly onHello: (hello: Hello, line: Line, kind: TransportKind) => void;
  readonly onTurnedAway: (kind: TransportKind, reason: string) => void;
}

/** More connections than this, that have not said who they are, are more than an honest network makes. */
const MAX_WAITING = 64;

/** Where connections from outside wait until they have said hello. */
export class Door {
  readonly #deps: DoorDeps;
  readonly #waiting = new Map<Line, () => void>();

  constructor(deps: DoorDeps) {
    this.#deps = deps;
  }

  take(connection: Connection, kind: TransportKind): void {
    const { clock, settings, onHello, onTurnedAway } = this.#deps;
    if (this.#waiting.size >= MAX_WAITING) {
      onTurnedAway(kind, `${MAX_WAITING} others have not said hello yet`);
      void connection.close().catch(() => undefined);
      return;
    }
    let trouble: string | undefined;
    const line: Line = new Line(connection, clock, settings, {
      onFrame: (frame) => {
        if (frame.type === 'hello') {
          this.#leave(line);
          onHello(frame, line, kind);
        } else line.lose(`a ${frame.type} instead of a hello`);
      },
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

  #leave(line: Line): void {
    this.#waiting.get(line)?.();
    this.#waiting.delete(line);
  }
}
