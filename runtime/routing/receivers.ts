import { reasonOf } from '../protocol/errors.ts';
import type { A2AEnvelope } from '../protocol/envelope.ts';

/** What is called with each envelope for one agent. */
export type ReceiveHandler = (envelope: A2AEnvelope) => unknown;

/** Hears of a handler that returned a promise which rejected: its envelope counts as delivered. */
export type ReceiverFailed = (agentId: string, envelope: A2AEnvelope, reason: string) => void;

/** The handlers of a standalone router, by agent. */
export class Receivers {
  readonly #handlers = new Map<string, Set<{ readonly handle: ReceiveHandler }>>();
  readonly #onRejection: ReceiverFailed;

  constructor(onRejection: ReceiverFailed) {
    this.#onRejection = onRejection;
  }

  has(agentId: string): boolean {
    return this.#handlers.has(agentId);
  }

  /** Adds a handler; the returned function removes this one. */
  add(agentId: string, handle: ReceiveHandler): () => void {
    const entry = { handle };
    const handlers = this.#handlers.get(agentId) ?? new Set();
    handlers.add(entry);
    this.#handlers.set(agentId, handlers);
    return () => {
      handlers.delete(entry);
      if (handlers.size === 0 && this.#handlers.get(agentId) === handlers) this.#handlers.delete(agentId);
    };
  }

  /** Calls every handler of the agent, whatever the others do; the reason when there is none or one threw. */
  deliver(agentId: string, envelope: A2AEnvelope): string | undefined {
    const handlers = this.#handlers.get(agentId);
    if (handlers === undefined) return `${agentId} is registered, but nobody receives for it`;
    let failure: string | undefined;
    for (const { handle } of [...handlers]) {
      const reason = this.#call(handle, agentId, envelope);
      failure ??= reason;
    }
    return failure;
  }

  #call(handle: ReceiveHandler, agentId: string, envelope: A2AEnvelope): string | undefined {
    try {
      const returned = handle(envelope);
      if (returned instanceof Promise) {
        returned.catch((error: unknown) => this.#onRejection(agentId, envelope, failureOf(agentId, error)));
      }
      return undefined;
    } catch (error) {
      return failureOf(agentId, error);
    }
  }
}

const failureOf = (agentId: string, error: unknown): string =>
  `The receiver of ${agentId} failed: ${reasonOf(error)}`;
