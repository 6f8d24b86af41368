import type { Cell } from '../cell/cell.ts';
import { OVER } from '../budget/former-accounts.ts';
import { chargeDeaths, isRetry, type Mail } from '../mailbox/mail.ts';
import type { JournalledFunds } from '../mailbox/journalled-funds.ts';
import type { LeftMail } from '../journal/backlog.ts';
import { mailFromRecord } from '../mailbox/mail-record.ts';
import { actorDied, errorToData } from '../protocol/errors.ts';

/** As many at a time, so that memory does not grow with what is left. */
const PAGE = 500;

export interface RecoveryDeps {
  /** The oldest mails that are left for an agent and were not given yet. */
  readonly take: (recipient: string, limit: number) => Promise<readonly LeftMail[]>;
  /** Accounts for mails whose amounts were limited. */
  readonly openAccounts: (funds: readonly JournalledFunds[]) => Promise<readonly number[]>;
  readonly deliver: (cell: Cell, mail: Mail) => void;
  /** What was taken, by its numbers, has all been delivered. */
  readonly onDelivered: (cell: Cell, numbers: readonly number[]) => void;
  readonly onProblem: (error: unknown) => void;
}

/**
 * Gives the agents of one thread what former processes left for them, before anything newer and a page at a time.
 *
 * What a former process had begun on is told (`once`) or tried again (`retry`), as after the death of a thread.
 */
export class Recovery {
  readonly #deps: RecoveryDeps;
  /** Of agents that still get some: how many were given and have no known outcome. */
  readonly #open = new Map<Cell, number>();
  /** How many of each are not given yet. */
  readonly #left = new Map<Cell, number>();

  constructor(deps: RecoveryDeps) {
    this.#deps = deps;
  }

  /** Nobody waits for anything that is left. */
  get isIdle(): boolean {
    return this.#open.size === 0;
  }

  /** Envelopes that still wait in the journal. */
  get left(): number {
    return [...this.#left.values()].reduce((sum, left) => sum + left, 0);
  }

  /** This agent still gets some. */
  isAt(cell: Cell): boolean {
    return this.#open.has(cell);
  }

  /** So many are left for this agent. Resolves when it has the first of them. */
  begin(cell: Cell, count: number): Promise<void> {
    this.#left.set(cell, count);
    this.#open.set(cell, 0);
    cell.expectLeft(true);
    return this.#feed(cell);
  }

  /** One of the mails that were left has its outcome. */
  settled(cell: Cell): void {
    const open = this.#open.get(cell);
    if (open === undefined) return;
    this.#open.set(cell, open - 1);
    if (open === 1) void this.#feed(cell);
  }

  /** The agent is not here any more. */
  forget(cell: Cell): void {
    this.#open.delete(cell);
    this.#left.delete(cell);
  }

  async #feed(cell: Cell): Promise<void> {
    const left = await this.#take(cell);
    if (!this.#open.has(cell)) return;
    if (left.length === 0) {
      this.forget(cell);
      cell.expectLeft(false);
      return;
    }
    this.#left.set(cell, (this.#left.get(cell) ?? 0) - left.length);
    const mails = left.flatMap((one) => this.#read(one, cell));
    shareFates(mails);
    await this.#fund(mails);
    // Of an agent that was removed meanwhile they are refused, and what they could spend goes back; nobody waits for that.
    if (this.#open.has(cell)) this.#open.set(cell, mails.length);
    for (const mail of mails) this.#deps.deliver(cell, mail);
    this.#deps.onDelivered(
      cell,
      left.map(({ number }) => number),
    );
    if (mails.length === 0 && this.#open.has(cell)) await this.#feed(cell);
  }

  /** One whose account cannot be opened has nothing to spend. */
  async #fund(mails: readonly Mail[]): Promise<void> {
    const limited = mails.filter(({ extras }) => extras?.funds !== undefined);
    if (limited.length === 0) return;
    const accounts = await this.#accountsFor(limited);
    limited.forEach((mail, at) => {
      mail.extras = { ...mail.extras, account: accounts[at] ?? OVER };
    });
  }

  async #accountsFor(mails: readonly Mail[]): Promise<readonly number[]> {
    try {
      return await this.#deps.openAccounts(mails.map(({ extras }) => extras?.funds as JournalledFunds));
    } catch (error) {
      this.#deps.onProblem(error);
      return [];
    }
  }

  /** One that cannot be read stays where it is, and does not stop the others. */
  #read(left: LeftMail, cell: Cell): Mail[] {
    try {
      return [mailOf(left, cell)];
    } catch (error) {
      this.#deps.onProblem(error);
      return [];
    }
  }

  /** A page that cannot be read is not the end of those behind it: it waits in the store for the next process. */
  async #take(cell: Cell): Promise<readonly LeftMail[]> {
    try {
      return await this.#deps.take(cell.row.id, PAGE);
    } catch (error) {
      this.#deps.onProblem(error);
      return [];
    }
  }
}

function mailOf(left: LeftMail, { row }: Cell): Mail {
  const mail = mailFromRecord(left);
  mail.wasLeft = true;
  if (left.starts === 0) return mail;
  const death = { agentId: row.id, reason: 'its process ended' };
  if (isRetry(mail.extras, row.profile.delivery)) chargeDeaths(mail, left.starts, death);
  else mail.tombstone = errorToData(actorDied(row.id, death.reason));
  return mail;
}

/**
 * What was sent again under the same id is one envelope: what was begun on is told of with the first of it, or tried again with
 * that, and the others are known by then to be the same.
 */
function shareFates(mails: readonly Mail[]): void {
  const firsts = new Map<string, Mail>();
  for (const mail of mails) {
    if (mail.extras?.derived !== true) continue;
    const first = firsts.get(nameOf(mail));
    if (first === undefined) {
      firsts.set(nameOf(mail), mail);
      continue;
    }
    first.tombstone ??= mail.tombstone;
    first.attempts = Math.max(first.attempts, mail.attempts);
    mail.tombstone = undefined;
    mail.attempts = 0;
  }
}

const nameOf = ({ sender, id }: Mail): string => `${sender}\n${id}`;
