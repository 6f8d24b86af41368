import { A2A_MESSAGE_TYPES, type A2AEnvelope } from '../protocol/envelope.ts';
import { handlerFailed, isOrreryError, reasonOf, refused } from '../protocol/errors.ts';
import { LOOP_ID } from '../protocol/policy.ts';
import type { ReceiveHandler } from '../routing/local-delivery.ts';
import type { OwnMailbox } from './own-mailbox.ts';

/** Who receives what is sent to `system/loop`. What is proposed to it its negotiator has. */
export class LoopMail {
  readonly #mailbox: OwnMailbox;
  readonly #receivers = new Set<{ readonly handle: ReceiveHandler }>();

  constructor(mailbox: OwnMailbox) {
    this.#mailbox = mailbox;
    for (const type of A2A_MESSAGE_TYPES)
      if (type !== 'notification' && type !== 'task-proposal')
        mailbox.definition.on(type, (envelope) => this.#got(envelope));
  }

  /** Calls `handle` with each envelope, until the returned function is called. */
  async receive(handle: ReceiveHandler): Promise<() => Promise<void>> {
    const receiver = { handle };
    this.#receivers.add(receiver);
    this.#listen();
    const end = async (): Promise<void> => {
      this.#receivers.delete(receiver);
      this.#listen();
    };
    try {
      await this.#mailbox.open();
    } catch (error) {
      await end();
      throw error;
    }
    return end;
  }

  /** Swarms tell their owner of their own accord, if it handles notifications: not where nobody receives them. */
  #listen(): void {
    const { envelopeHandlers } = this.#mailbox.definition;
    if (this.#receivers.size === 0) envelopeHandlers.delete('notification');
    else envelopeHandlers.set('notification', (envelope) => this.#got(envelope));
  }

  /** The first answer that there is. */
  async #got(envelope: A2AEnvelope): Promise<unknown> {
    if (this.#receivers.size === 0) throw refused(`Nobody receives for ${LOOP_ID}`);
    const answers = [...this.#receivers].map(async ({ handle }) => handle(envelope));
    try {
      return (await Promise.all(answers)).find((answer) => answer !== undefined);
    } catch (error) {
      // The mailbox keeps nothing that a throw leaves half changed, and one that gave up could not be opened again.
      throw isOrreryError(error) ? error : handlerFailed(LOOP_ID, reasonOf(error), error);
    }
  }
}
