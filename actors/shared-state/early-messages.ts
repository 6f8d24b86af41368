import type { SyncMessage } from './sync-message.ts';

const MAX_MESSAGES = 64;
const MAX_BYTES = 4 << 20;

/**
 * Messages for documents that an agent has not opened yet, in the order in which they came. Above the bounds the oldest are
 * dropped: whoever opens a document asks for what is missing.
 */
export class EarlyMessages {
  #held: SyncMessage[] = [];
  #bytes = 0;

  /** Holds a message. An answer is not held, because whoever asked is gone. */
  hold(message: SyncMessage): void {
    if (message.kind === 'state') return;
    this.#held.push(message);
    this.#bytes += message.payload.length;
    while (this.#held.length > MAX_MESSAGES || this.#bytes > MAX_BYTES)
      this.#bytes -= this.#held.shift()?.payload.length ?? 0;
  }

  /** Takes out the messages of one document. */
  take(channelId: string): readonly SyncMessage[] {
    const taken = this.#held.filter((message) => message.channelId === channelId);
    this.#held = this.#held.filter((message) => message.channelId !== channelId);
    for (const { payload } of taken) this.#bytes -= payload.length;
    return taken;
  }
}
