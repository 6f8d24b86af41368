import { type AgentDefinition, defineAgent } from '../agent/agent-definition.ts';
import type { AgentClient } from '../cell/interceptor.ts';
import type { AgentCard } from '../protocol/agent-card.ts';
import { systemProfile } from '../routing/system-profile.ts';

/**
 * - `isDurable` what is sent there is kept in the journal, as is what interceptors keep at its client.
 * - `host`      has it live in this thread, under this card, and resolves to its client.
 */
export interface OwnMailboxDeps {
  readonly isDurable: boolean;
  readonly host: (mailbox: AgentDefinition, card: AgentCard) => Promise<AgentClient>;
}

/** A mailbox of the embedder's thread under a name of the runtime's own: `system/...`. Opened when it is first needed, it stays. */
export class OwnMailbox {
  /** What comes there is handled by what this handles at the time. */
  readonly definition: AgentDefinition;
  readonly #card: AgentCard;
  readonly #host: OwnMailboxDeps['host'];
  #client: Promise<AgentClient> | undefined;

  constructor(id: string, { isDurable, host }: OwnMailboxDeps) {
    this.#card = systemProfile(id).card;
    this.#host = host;
    const { name, version, description } = this.#card;
    // Who it is says the card: no agent of a module may have such an id.
    this.definition = defineAgent({
      id: 'mailbox',
      name,
      version,
      description,
      tier: 0,
      durable: isDurable,
    });
  }

  /** Rejects when it cannot be opened; the next one tries again. */
  open(): Promise<AgentClient> {
    this.#client ??= this.#host(this.definition, this.#card).catch((error: unknown) => {
      this.#client = undefined;
      throw error;
    });
    return this.#client;
  }
}
