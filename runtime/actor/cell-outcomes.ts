import type { InFlow } from '../mailbox/in-flow.ts';
import { type Mail, NO_ASK } from '../mailbox/mail.ts';
import type { Outcome } from '../observe/system-event.ts';
import { parseOutput } from '../protocol/capability.ts';
import { type ErrorData, errorToData, type OrreryError } from '../protocol/errors.ts';
import { REPLY } from '../threads/batch-format.ts';
import type { Place } from '../threads/place.ts';
import type { AgentDefinition, HandlerEntry } from './agent-definition.ts';
import { AnsweredIds } from './answered-ids.ts';

/** How the envelopes of one agent end: their asks are answered, their outcomes noted and told. */
export class CellOutcomes {
  readonly #place: Place;
  readonly #agentId: string;
  readonly #definition: AgentDefinition<unknown>;
  #answered: AnsweredIds | undefined;

  constructor(place: Place, agentId: string, definition: AgentDefinition<unknown>) {
    this.#place = place;
    this.#agentId = agentId;
    this.#definition = definition;
  }

  /** Ends an envelope that was handled: answers its ask, if it has one, with `output` as `entry` declares it. */
  finish(mail: Mail, entry: HandlerEntry | undefined, output: unknown): void {
    if (mail.ask !== NO_ASK) {
      let answer = output;
      try {
        if (entry?.kind === 'value') answer = parseOutput(entry.capability, output, this.#agentId);
      } catch (error) {
        return this.close(mail, 'rejected', error as OrreryError);
      }
      this.reply(mail, answer === undefined ? REPLY.empty : REPLY.value, answer);
    }
    this.settle(mail, 'handled');
  }

  /** Answers the ask behind `mail`. */
  reply(mail: Mail, kind: number, payload: unknown): void {
    if (mail.extras?.derived === true && kind !== REPLY.chunk) {
      this.#answered?.remember(mail.sender, mail.id, { kind, payload });
    }
    this.#place.answers.give(
      mail,
      kind,
      payload,
      this.#definition.handlers.get(mail.capability ?? '')?.capability.carries,
    );
  }

  progress(mail: Mail, fraction: number, note: string | undefined): void {
    if (mail.ask !== NO_ASK) this.#place.answers.give(mail, REPLY.progress, [fraction, note ?? null], 'json');
    this.#place.log.progress(this.#agentId, mail, fraction, note);
  }

  settle(mail: Mail, outcome: Outcome): void {
    const flow = mail.flow as InFlow;
    this.#place.outbox.forgetName(mail);
    flow.settle(mail.sequence, outcome);
    this.#place.settled(flow, mail, outcome);
  }

  /** Ends an envelope that has not got what it asked for. */
  close(mail: Mail, outcome: Outcome, error: OrreryError): void {
    if (mail.ask !== NO_ASK) this.reply(mail, REPLY.error, errorToData(error));
    this.settle(mail, outcome);
    this.#place.log.closed(this.#agentId, mail, outcome, error);
  }

  deadLetter(mail: Mail, why: ErrorData): void {
    if (mail.ask !== NO_ASK) this.reply(mail, REPLY.error, why);
    this.settle(mail, 'dead-lettered');
    this.#place.log.deadLetter(mail, this.#agentId, why);
  }

  /**
   * Settles a mail that a sender's second attempt sent again; its ask gets the answer that the first one got. False when
   * it is new.
   */
  settleRepeated(mail: Mail): boolean {
    this.#answered ??= new AnsweredIds();
    const answer = this.#answered.recall(mail.sender, mail.id);
    if (answer === undefined) return false;
    if (mail.ask !== NO_ASK) {
      if (answer.kind === undefined) return false;
      this.reply(mail, answer.kind, answer.payload);
    }
    this.settle(mail, 'handled');
    return true;
  }
}
