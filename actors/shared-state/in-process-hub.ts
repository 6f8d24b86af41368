import { refused } from '../../runtime/protocol/errors.ts';
import type { SyncMedium } from './sync-medium.ts';
import type { SyncMessage } from './sync-message.ts';

/** The medium of members that live in one thread: every message is copied and passed on in the next microtask. */
export class InProcessHub {
  readonly #ends = new Map<string, HubEnd>();

  /** The end of one member. Fails with REFUSED while another end of the same member is open. */
  connect(agentId: string): SyncMedium {
    if (this.#ends.has(agentId)) throw refused(`${agentId} is connected to this hub already`, { agentId });
    const end: HubEnd = new HubEnd({
      others: () => [...this.#ends.values()].filter((other) => other !== end),
      find: (id) => this.#ends.get(id),
      gone: () => this.#ends.delete(agentId),
    });
    this.#ends.set(agentId, end);
    return end;
  }
}

interface Switchboard {
  others(): HubEnd[];
  find(agentId: string): HubEnd | undefined;
  gone(): void;
}

class HubEnd implements SyncMedium {
  readonly #board: Switchboard;
  #listener: ((message: unknown) => void) | undefined;

  constructor(board: Switchboard) {
    this.#board = board;
  }

  async publish(message: SyncMessage): Promise<number> {
    const others = this.#board.others();
    for (const other of others) other.pass(message);
    return others.length;
  }

  async send(agentId: string, message: SyncMessage): Promise<void> {
    this.#board.find(agentId)?.pass(message);
  }

  onMessage(listener: (message: unknown) => void): void {
    this.#listener = listener;
  }

  async close(): Promise<void> {
    this.#listener = undefined;
    this.#board.gone();
  }

  pass(message: SyncMessage): void {
    const copy = structuredClone(message);
    queueMicrotask(() => this.#listener?.(copy));
  }
}
