import { type Mail, NO_ASK } from '../mailbox/mail.ts';
import type { Taint } from '../protocol/taint.ts';
import { type Answer, AnsweredIds, RecentReports } from './answered-ids.ts';
import type { Cell } from './cell.ts';

/**
 * What an agent knows of the envelopes that may be sent to it again under the same id, which is derived: when their sender
 * has died in mid-work, its next attempt sends again what the last one sent.
 */
export class RepeatableMails {
  readonly #cell: Cell;
  readonly #answered: AnsweredIds;
  readonly #reports = new WeakMap<Mail, RecentReports>();

  constructor(cell: Cell) {
    this.#cell = cell;
    this.#answered = new AnsweredIds((sender, id) => cell.thread.journal?.forget(cell, sender, id));
  }

  /** What was answered to it. When nothing is known of it, it is remembered as taken from now on. */
  recall({ sender, id }: Mail): Answer | undefined {
    return this.#answered.recall(sender, id);
  }

  answerTo(sender: string, id: string): Answer | undefined {
    return this.#answered.get(sender, id);
  }

  /** What the agent took under an id that may be sent again, in a former process or in this one. */
  add(sender: string, id: string, answer: Answer): void {
    this.#answered.add(sender, id, answer);
  }

  /** `mail` has its last answer. What is kept is answered in the next process too, whoever handled it. */
  remember(mail: Mail, kind: number, payload: unknown, taint: Taint | undefined): void {
    const { sender, id } = mail;
    const answer: Answer = { kind, payload, ...this.#reported(mail), taint };
    if (mail.kept > 0) this.#answered.add(sender, id, answer);
    else this.#answered.remember(sender, id, answer);
  }

  /** `mail` had this reported in between: whoever asks for it again hears it again. */
  report(mail: Mail, what: unknown): void {
    const reports = this.#reports.get(mail) ?? new RecentReports();
    reports.add(what);
    this.#reports.set(mail, reports);
  }

  /** So many of its reports are not known any more. */
  skipReports(mail: Mail, dropped: number): void {
    this.#reports.set(mail, new RecentReports(dropped));
  }

  /** The attempt that reported them has died: they belong to no answer. */
  forgetReports(mail: Mail): void {
    this.#reports.delete(mail);
  }

  #reported(mail: Mail): Pick<Answer, 'reports' | 'droppedReports'> {
    const { items, dropped = 0 } = this.#reports.get(mail) ?? {};
    return dropped === 0 ? { reports: items } : { reports: items, droppedReports: dropped };
  }

  /** The same, asked again in the thread or process that followed its asker's: it waits in the mailbox. */
  *askedAgain(mail: Mail): Iterable<Mail> {
    if (!this.#isOrphaned(mail)) return;
    for (const other of this.#cell.mails())
      if (other !== mail && other.ask !== NO_ASK && other.id === mail.id && other.sender === mail.sender)
        yield other;
  }

  /** Whoever asked is not there any more. */
  #isOrphaned({ wasLeft, flow }: Mail): boolean {
    const { incarnation, links } = this.#cell.thread;
    const asker = flow?.incarnation ?? -1;
    return wasLeft || (asker !== -1 && asker !== incarnation && links.ofIncarnation(asker) === undefined);
  }
}
