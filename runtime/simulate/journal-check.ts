import type { Cell } from '../cell/cell.ts';
import { isToBeKept, type Mail } from '../mailbox/mail.ts';
import type { StoreBatch } from '../protocol/store.ts';
import type { Check } from './invariants.ts';

/** Lives of the process that may end over one envelope: the third is the last that begins on it. */
const MOST_LIVES = 3;

/** What is known of an envelope that was written to the journal. */
interface Kept {
  readonly recipient: string;
  /** The life of the process in which it was written. */
  readonly life: number;
  /** It has had an outcome in this life of the process. */
  hasOutcome: boolean;
  /** The journal knows that it has one: it is not given again. */
  isForgotten: boolean;
  /** Lives of the process in which a handler was called with it; forgotten with what says so, by a loss of power. */
  readonly begunIn: Set<number>;
}

/**
 * Watches what the runtime promises of durable mailboxes, from one life of the process to the next: nobody begins on what
 * is not kept; what is kept has an outcome before it leaves the journal, and none after that; `once` is not begun on
 * twice, whatever process does it; and no envelope ends more processes than it may.
 */
export class JournalCheck implements Check {
  readonly violations: string[] = [];
  readonly #mails = new Map<number, Kept>();
  readonly #derived = new DerivedIds();
  #life = 0;
  /**
   * Places whose thread has died in this life: what it had written and not sent waits for the next one, and of the ids that
   * its agents had taken the next thread knows nothing.
   */
  readonly #bereft = new Set<string>();
  /** Lives in which a thread has died: what it had written and not sent comes beside what was sent in its place. */
  readonly #withDeaths = new Set<number>();

  /** A process has been started. */
  lifeBegins(): void {
    this.#life += 1;
    this.#bereft.clear();
    for (const kept of this.#mails.values()) kept.hasOutcome = false;
  }

  threadDied(place: string): void {
    this.#bereft.add(place);
    this.#withDeaths.add(this.#life);
  }

  /** What was begun on is not known any more. */
  powerLost(): void {
    this.#derived.clear();
    for (const { begunIn } of this.#mails.values()) begunIn.clear();
  }

  /** The journal has written this. */
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

  /** A handler is called with the mail. */
  began(cell: Cell, mail: Mail): void {
    const { row, thread } = cell;
    if (!row.profile.durable || !isToBeKept(mail)) return;
    const kept = this.#mails.get(mail.kept);
    if (kept === undefined) {
      this.#violated(`${row.id} has begun on ${mail.id} before it was kept`);
      return;
    }
    if (kept.isForgotten)
      this.#violated(`${row.id} has begun on ${mail.id}, of which the journal knew the outcome`);
    if (cell.isRetry(mail)) {
      kept.begunIn.add(this.#life);
      if (kept.begunIn.size > MOST_LIVES)
        this.#violated(`${row.id} has begun on ${mail.id} in more than ${MOST_LIVES} processes`);
    } else {
      if (kept.begunIn.size > 0)
        this.#violated(`${row.id} has begun twice on ${mail.id}, which is delivered once and kept`);
      kept.begunIn.add(this.#life);
    }
    if (mail.extras?.derived !== true) return;
    const former = this.#derived.begun(mail, row.id);
    if (former === undefined || this.#bereft.has(thread.id) || this.#withDeaths.has(kept.life)) return;
    if (!cell.isRetry(mail) || this.#mails.get(former)?.isForgotten === true)
      this.#violated(`${row.id} has begun twice on ${mail.id} of ${mail.sender}, which was sent again`);
  }

  /**
   * The outcome of the mail is known. What an interceptor took out of its turn, which no handler was called with, may be shown
   * to it again after the death of a thread.
   */
  settled(mail: Mail): void {
    const kept = this.#mails.get(mail.kept);
    if (kept === undefined) return;
    if (kept.isForgotten && kept.begunIn.size > 0)
      this.#violated(`${mail.id} for ${kept.recipient} has an outcome a second time`);
    kept.hasOutcome = true;
  }

  /** Nothing is under way: what is kept of these agents' mail has an outcome, or is for the next process. */
  checkRest(hosted: (agentId: string) => boolean): void {
    for (const [number, { recipient, isForgotten, life }] of this.#mails)
      if (!isForgotten && hosted(recipient) && !(life === this.#life && this.#withDeaths.has(life)))
        this.#violated(
          `Envelope ${number} for ${recipient} is kept, and nobody has handled it or told of it`,
        );
  }

  #forgotten(number: number): void {
    const kept = this.#mails.get(number);
    if (kept === undefined || kept.isForgotten) return;
    if (!kept.hasOutcome)
      this.#violated(`Envelope ${number} for ${kept.recipient} left the journal without an outcome`);
    kept.isForgotten = true;
  }

  #violated(sentence: string): void {
    if (!this.violations.includes(sentence)) this.violations.push(sentence);
  }
}

/** As many ids of one sender as every agent remembers, with room to spare. */
const IDS_A_SENDER = 1_000;
/** As many senders. */
const SENDERS = 60;

/** Numbers by id. */
type Ids = Map<string, number>;

/** The envelopes that agents began on whose ids their senders give again when they try again. */
class DerivedIds {
  /** By recipient and sender. */
  readonly #recipients = new Map<string, Map<string, Ids>>();

  clear(): void {
    this.#recipients.clear();
  }

  /** An agent begins on the mail. Returns the number of another one with the same id that it had begun on before. */
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

/** The entry stands last; of more than so many the first is forgotten. */
function putLast<Value>(map: Map<string, Value>, key: string, value: Value, most: number): void {
  map.delete(key);
  map.set(key, value);
  const [first] = map.keys();
  if (map.size > most && first !== undefined) map.delete(first);
}
