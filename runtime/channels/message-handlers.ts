import type { A2AEnvelope } from '../protocol/envelope.ts';
import { reasonOf } from '../protocol/errors.ts';
import type { ChannelEventBody } from './channel-event.ts';

export type MessageHandler<Context = undefined> = (envelope: A2AEnvelope, ctx: Context) => unknown;

/** Handlers of a channel's envelopes. One that throws or rejects is reported, and the others are called. */
export class MessageHandlers<Context = undefined> {
  readonly #report: (event: ChannelEventBody) => void;
  readonly #handlers = new Set<{ readonly handle: MessageHandler<Context> }>();

  constructor(report: (event: ChannelEventBody) => void) {
    this.#report = report;
  }

  get size(): number {
    return this.#handlers.size;
  }

  /** Adds a handler, and returns what removes it. */
  add(handle: MessageHandler<Context>): () => void {
    const entry = { handle };
    this.#handlers.add(entry);
    return () => {
      this.#handlers.delete(entry);
    };
  }

  clear(): void {
    this.#handlers.clear();
  }

  /** Calls each; what is returned settles when all that they have begun is over, and is undefined when it is already. */
  call(envelope: A2AEnvelope, ctx: Context): Promise<unknown> | undefined {
    const begun: Promise<unknown>[] = [];
    const failed = (error: unknown): void =>
      this.#report({ type: 'handler-failed', envelopeId: envelope.id, reason: reasonOf(error) });
    for (const { handle } of [...this.#handlers]) {
      try {
        const returned = handle(envelope, ctx);
        if (returned instanceof Promise) begun.push(returned.catch(failed));
      } catch (error) {
        failed(error);
      }
    }
    return begun.length === 0 ? undefined : Promise.all(begun);
  }
}
