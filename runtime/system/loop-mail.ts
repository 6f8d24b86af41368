import { type AgentDefinition, defineAgent } from '../actor/agent-definition.ts';
import type { AgentCard } from '../protocol/agent-card.ts';
import { A2A_MESSAGE_TYPES, type A2AEnvelope } from '../protocol/envelope.ts';
import { refused } from '../protocol/errors.ts';
import type { ReceiveHandler } from '../routing/receivers.ts';
import { systemProfile } from '../routing/system-profile.ts';

/** Under which a loop sends and is written to. */
export const LOOP_ID = 'system/loop';

/** `host`: has it live in this thread, under this card. */
export interface LoopMailDeps {
  readonly host: (agent: AgentDefinition, card: AgentCard) => Promise<unknown>;
}

/** What is sent to `system/loop`: its mailbox is opened by the first who receives from it, and stays. */
export class LoopMail {
  readonly #deps: LoopMailDeps;
  readonly #receivers = new Set<{ readonly handle: ReceiveHandler }>();
  #opened: Promise<unknown> | undefined;

  constructor(deps: LoopMailDeps) {
    this.#deps = deps;
  }

  /** Calls `handle` with each envelope, until the returned function is called. */
  async receive(handle: ReceiveHandler): Promise<() => Promise<void>> {
    const receiver = { handle };
    this.#receivers.add(receiver);
    this.#opened ??= this.#open();
    try {
      await this.#opened;
    } catch (error) {
      this.#receivers.delete(receiver);
      this.#opened = undefined;
      throw error;
    }
    return async () => void this.#receivers.delete(receiver);
  }

  #open(): Promise<unknown> {
    const { card } = systemProfile(LOOP_ID);
    const { version, description } = card;
    // Nothing of it is half changed when a receiver throws, and a mailbox that gave up could not be opened again.
    const definition = defineAgent({
      id: 'loop',
      name: LOOP_ID,
      version,
      description,
      tier: 0,
      onThrow: 'keep',
    });
    for (const type of A2A_MESSAGE_TYPES) definition.on(type, (envelope) => this.#got(envelope));
    return this.#deps.host(definition, card);
  }

  /** The first answer that there is; what a receiver throws is the sender's to know. */
  async #got(envelope: A2AEnvelope): Promise<unknown> {
    if (this.#receivers.size === 0) throw refused(`Nobody receives for ${LOOP_ID}`);
    const answers = [...this.#receivers].map(async ({ handle }) => handle(envelope));
    return (await Promise.all(answers)).find((answer) => answer !== undefined);
  }
}
