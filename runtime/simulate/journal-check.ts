import type { Cell } from '../cell/cell.ts';
import { isToBeKept, type Mail } from '../mailbox/mail.ts';
import type { StoreBatch } from '../protocol/store.ts';
import type { Check } from './invariants.ts';

/** Most lives of the process in which one envelope may be begun. */
const MOST_LIVES = 3;

/** An envelope that was written to the journal. */
interface JournalledMail {
  readonly recipient: string;
  /** The process life in which it was written. */
  readonly life: number;
  /** Whether it has an outcome in this life. */
  hasOutcome: boolean;
  /** Whether the journal has its outcome, so that it is not delivered again. */
  isForgotten: boolean;
  /** Lives in which a handler has begun it. Cleared by a loss of power, like the notes on disk. */
  readonly begunIn: Set<number>;
}

/**
 * Checks the promises of durable mailboxes, across lives of the process:
 *
 * - No envelope is begun before it is in the journal.
 * - An envelope has an outcome before it leaves the journal, and none after.
 * - A `once` envelope is begun once, in all processes together.
 * - No envelope is begun in more processes than it may.
 */
export class JournalCheck implements Check {
  readonly violations: string[] = [];
  readonly #mails = new Map<number, JournalledMail>();
  readonly #derived = new DerivedIds();
  #life = 0;
  /**
   * Places whose thread has died in this life. Mail that it had written but not sent waits for the next process. The next
   * thread does not know the ids that its agents had taken.
   */
  readonly #bereft = new Set<string>();
  /** Lives in which a thread has died. Mail that it had written but not sent may be delivered beside its resent copy. */
  readonly #withDeaths = new Set<number>();

  /** Called when a process starts. */
  lifeBegins(): void {
    this.#life += 1;
    this.#bereft.clear();
    for (const entry of this.#mails.values()) entry.hasOutcome = false;
  }

  threadDied(place: string): void {
    this.#bereft.add(place);
    this.#withDeaths.add(this.#life);
  }

  /** Forgets what was begun. */
  powerLost(): void {
    this.#derived.clear();
    for (const { begunIn } of this.#mails.values()) begunIn.clear();
  }

  /** Called with what the journal has written. */
  written(batches: readonly StoreBatch[], firstMails: readonly number[]): void {
    batches.forEach(({ mails, settled }, at) => {
      mails.forEach(({ recipient }, nth) => {
        const number = (firstMails[at] as number) + nth;
        this.#mails.set(number, {
          recipient,
          life: this.#life,
          hasOutcome: false,
          isForgotten: false,
          begunIn: new Set(),
        });
      });
      for (const number of settled) this.#forgotten(number);
    });
  }

  /** Called when a handler begins a mail. */
  began(cell: Cell, mail: Mail): void {
    const { row, thread } = cell;
    if (!row.profile.durable || !isToBeKept(mail)) return;
    const entry = this.#mails.get(mail.kept);
    if (entry === undefined) {
      this.#violated(`${row.id} has begun on ${mail.id} before it was kept`);
      return;
    }
    if (entry.isForgotten)
      this.#violated(`${row.id} has begun on ${mail.id}, of which the journal knew the outcome`);
    if (cell.isRetry(mail)) {
      entry.begunIn.add(this.#life);
      if (entry.begunIn.size > MOST_LIVES)
        this.#violated(`${row.id} has begun on ${mail.id} in more than ${MOST_LIVES} processes`);
    } else {
      if (entry.begunIn.size > 0)
        this.#violated(`${row.id} has begun twice on ${mail.id}, which is delivered once and kept`);
      entry.begunIn.add(this.#life);
    }
    if (mail.extras?.derived !== true) return;
    const former = this.#derived.begun(mail, row.id);
    if (former === undefined || this.#bereft.has(thread.id) || this.#withDeaths.has(entry.life)) return;
    if (!cell.isRetry(mail) || this.#mails.get(former)?.isForgotten === true)
      this.#violated(`${row.id} has begun twice on ${mail.id} of ${mail.sender}, which was sent again`);
  }

  /**
   * Called when a mail has an outcome. A mail that an interceptor took, and no handler has begun, may have a second one after
   * the death of a thread.
   */
  settled(mail: Mail): void {
    const entry = this.#mails.get(mail.kept);
    if (entry === undefined) return;
    if (entry.isForgotten && entry.begunIn.size > 0)
      this.#violated(`${mail.id} for ${entry.recipient} has an outcome a second time`);
    entry.hasOutcome = true;
  }

  /**
   * Checks, when nothing is in flight, that all journalled mail of these agents has an outcome, or is for the next process.
   */
  checkRest(hosted: (agentId: string) => boolean): void {
    for (const [number, { recipient, isForgotten, life }] of this.#mails)
      if (!isForgotten && hosted(recipient) && !(life === this.#life && this.#withDeaths.has(life)))
        this.#violated(
          `Envelope ${number} for ${recipient} is kept, and nobody has handled it or told of it`,
        );
  }

  #forgotten(number: number): void {
    const entry = this.#mails.get(number);
    if (entry === undefined || entry.isForgotten) return;
    if (!entry.hasOutcome)
      this.#violated(`Envelope ${number} for ${entry.recipient} left the journal without an outcome`);
    entry.isForgotten = true;
  }

  #violated(sentence: string): void {
    if (!this.violations.includes(sentence)) this.violations.push(sentence);
  }
}

/** Ids to remember of one sender: more than an agent remembers. */
const IDS_A_SENDER = 1_000;
/** Senders to remember: more than an agent remembers. */
const SENDERS = 60;

/** Numbers of envelopes, by id. */
type Ids = Map<string, number>;

/** Envelopes begun whose ids are derived, so that a sender that tries again gives the same id. */
class DerivedIds {
  /** Ids by recipient, then sender. */
  readonly #recipients = new Map<string, Map<string, Ids>>();

  clear(): void {
    this.#recipients.clear();
  }

  /** Notes that a mail is begun; returns the number of an earlier one with the same id. */
  begun({ sender, id, kept }: Mail, recipient: string): number | undefined {
    const ids = this.#idsOf(recipient, sender);
    const former = ids.get(id);
    putLast(ids, id, kept, IDS_A_SENDER);
    return former === kept ? undefined : former;
  }

  #idsOf(recipient: string, sender: string): Ids {
    const senders = this.#recipients.get(recipient) ?? new Map<string, Ids>();
    this.#recipients.set(recipient, senders);
    const ids = senders.get(sender) ?? new Map<string, number>();
    putLast(senders, sender, ids, SENDERS);
    return ids;
  }
}

/** Puts an entry last in a map, and removes the first beyond `most`. */
function putLast<Value>(map: Map<string, Value>, key: string, value: Value, most: number): void {
  map.delete(key);
  map.set(key, value);
  const [first] = map.keys();
  if (map.size > most && first !== undefined) map.delete(first);
}
