import type { EventLoop } from '../protocol/seams.ts';
import type { Answer } from '../cell/answered-ids.ts';
import type { JournalOfThread } from '../cell/cell-thread.ts';
import { AgentRecords } from '../cell/agent-records.ts';
import type { Cell } from '../cell/cell.ts';
import { taintOn, absorbAtClient } from '../cell/cell-taint.ts';
import type { Journal } from '../journal/journal.ts';
import type { JournalledAgent } from '../journal/journal-survey.ts';
import { JournalConnection } from '../journal/journal-connection.ts';
import { ringFiles, type StartedNotes, type StartedRings } from '../journal/started-ring.ts';
import type { OpenNotes } from '../journal/spend-file.ts';
import { forgottenRecord, takenRecord, type TakenId } from '../journal/taken-ids.ts';
import { sharedOrder } from '../journal/unit-order.ts';
import { MAX_DEAD_LETTERS, letterRecord } from '../journal/journalled-dead-letters.ts';
import { Fifo } from '../mailbox/fifo.ts';
import type { Mail } from '../mailbox/mail.ts';
import type { Taint } from '../protocol/taint.ts';
import { systemStopped } from '../protocol/errors.ts';
import type { Verdict } from '../protocol/policy.ts';
import type { PageOf, RecordChange, StoredRecord } from '../protocol/store.ts';
import type { AgentRow } from '../protocol/agent-row.ts';
import type { DeadLetter } from '../protocol/dead-letter.ts';
import { Connection, type Remote } from '../link/connection.ts';
import type { JournalAccess } from '../journal/journal-thread.ts';
import type { JournalWriter } from '../link/journal-writer.ts';
import { JournalledStates } from './journalled-states.ts';
import type { ThreadNode } from './thread-node.ts';
import type { Port } from '../link/port.ts';
import { NodeHistory } from './node-history.ts';
import { Recovery } from './recovery.ts';
import { Starts } from './starts.ts';

/** The journal itself tries again about as often. */
const TRY_AGAIN_MS = 500;

/** `rings`: where it notes what it begins on. @default files */
export interface NodeJournalDeps {
  readonly received: (port: unknown) => Port;
  readonly loop: Pick<EventLoop, 'yieldTurn'>;
  readonly rings?: StartedRings | undefined;
}

/** What one thread has of the journal: what it keeps there, what it has begun on, and what was left for its agents. */
export class NodeJournal implements JournalOfThread {
  readonly #incarnation: number;
  readonly #notes: StartedNotes;
  readonly #starts: Starts;
  readonly #spends: OpenNotes;
  readonly #writer: JournalWriter;
  /** What the states of durable agents are, for whoever runs them next. */
  readonly states: JournalledStates;
  readonly #recovery: Recovery;
  /** What is given to it of what is noted here; undefined when it keeps no history. */
  readonly history: NodeHistory | undefined;
  readonly #connection: JournalConnection;
  readonly #questions: Connection<Journal>;
  readonly #letters = new Fifo<string>();
  /** Agents whose former thread may have left them without something. */
  readonly #bereft = new Set<Cell>();
  readonly #onProblem: (error: unknown) => void;
  #isLeft = false;

  constructor(
    node: ThreadNode,
    access: JournalAccess,
    { received, loop, rings = ringFiles }: NodeJournalDeps,
  ) {
    this.#incarnation = node.incarnation;
    this.#notes = rings.open(access.file, node.incarnation, () => this.#open(node));
    this.#starts = new Starts({ notes: this.#notes, clock: node.seams.clock, loop });
    this.#questions = new Connection(received(access.api));
    this.#questions.serve({});
    this.#connection = new JournalConnection({
      port: received(access.line),
      order: sharedOrder(access.order),
      onRoom: () => this.#writer.flush(),
      // However long it takes to read what is kept, it gets on: only its end ends the wait.
      onEnd: (error) => this.#questions.cut(error),
      onFailure: (failure) => {
        node.room.wake();
        if (failure !== undefined) return;
        for (const cell of node.cells()) if (cell.row.profile.durable) cell.wakeIfWaiting();
      },
    });
    this.#writer = node.outbox.journalIn(this.#connection, (account) => node.accounts.fundsOf(account));
    this.#spends = rings.spends.open(access.file, {
      run: node.accounts.run,
      incarnation: node.incarnation,
      isOpen: (account) => node.accounts.isOpen(account),
    });
    node.accounts.noteIn(this.#spends);
    this.states = new JournalledStates({
      write: (change) => this.record(change),
      onProblem: (agentId, error) => node.log.error(agentId, error),
    });
    this.history = access.keepsHistory
      ? new NodeHistory(node, (remembered) => this.#api.remember(remembered))
      : undefined;
    node.log.beforeTelling = () => {
      if (this.history?.isBehind === true) this.history.collect();
    };
    this.#writer.beforeUnit = () => this.states.write();
    this.#onProblem = (error) => node.log.error(node.id, error);
    this.#recovery = new Recovery({
      take: (recipient, limit) => this.#api.takeLeft(recipient, limit, node.incarnation),
      openAccounts: (funds) => this.#api.openAccounts(funds, node.incarnation),
      deliver: ({ row }, mail) => node.outbox.acceptLeft(row, mail),
      onDelivered: (cell, numbers) => node.outbox.whenCommitted(() => this.#held(cell, numbers)),
      onProblem: this.#onProblem,
    });
  }

  /** The system stops: what goes on goes on in the next process. */
  get isLeft(): boolean {
    return this.#isLeft;
  }

  /** Nothing waits to be kept, and nothing is left to be given. */
  get isIdle(): boolean {
    return this.#writer.isIdle && this.#recovery.isIdle;
  }

  /** Envelopes that former processes left and that still wait in the journal for an agent here. */
  get left(): number {
    return this.#recovery.left;
  }

  /** The agent takes nothing new at present: what it did could not be kept. */
  holds({ profile }: AgentRow): boolean {
    return profile.durable && this.#writer.failure !== undefined;
  }

  /** Why nothing can be sent to this agent at present: it could not be kept. */
  refusal({ profile }: AgentRow): Verdict | undefined {
    const { failure } = this.#writer;
    if (failure === undefined || !profile.durable) return undefined;
    return { code: failure.code, reason: failure.message, retryAfterMs: TRY_AGAIN_MS };
  }

  /** The handling of a mail begins: of one that is kept that is known, whatever becomes of the process. */
  begins(cell: Cell, mail: Mail): void {
    this.states.begins(cell);
    if (mail.kept > 0) this.#starts.begin(cell, mail);
  }

  settle(mail: Mail, cell: Cell | undefined): void {
    if (mail.kept > 0) this.#settleKept(mail, cell);
    else if (mail.extras !== undefined && cell !== undefined) this.states.changed(cell);
  }

  #settleKept(mail: Mail, cell: Cell | undefined): void {
    if (this.#isLeft) return;
    this.#writer.settled(mail.kept);
    if (cell === undefined) return;
    this.states.changed(cell);
    if (mail.extras?.derived === true) this.record(takenRecord(takenBy(cell, mail)));
    if (mail.wasLeft) this.#recovery.settled(cell);
  }

  /** The agent is not here any more: what is left for it waits for whoever has its id next. */
  dismissed(cell: Cell): void {
    this.#recovery.forget(cell);
  }

  /** The agent does not remember any more that it took this. */
  forget({ row }: Cell, sender: string, id: string): void {
    if (row.profile.durable) this.record(forgottenRecord({ agent: row.id, sender, id }));
  }

  /** The outcome of a mail that is kept is a dead letter: it outlives the process too. */
  keepLetter(mail: Mail, letter: DeadLetter): void {
    const kept = letterRecord(mail.kept, letter);
    this.record(kept);
    this.#letters.push(kept.key);
    const oldest = this.#letters.length > MAX_DEAD_LETTERS ? this.#letters.shift() : undefined;
    if (oldest !== undefined) this.record({ ...kept, key: oldest, value: undefined });
  }

  record(change: RecordChange): void {
    if (!this.#isLeft) this.note(change);
  }

  /** Writes a record, also while the system stops. */
  note(change: RecordChange): void {
    this.#writer.record(change);
  }

  records(kind: string, page: PageOf<string>): Promise<readonly StoredRecord[]> {
    return this.#api.records(kind, page);
  }

  /** For whom the journal keeps something, and how much. */
  surveyAgents(): Promise<readonly JournalledAgent[]> {
    return this.#api.surveyAgents();
  }

  /** Deletes everything that the journal keeps for an agent that is not in the team; undefined when there is nothing. */
  forgetAgent(agentId: string): Promise<JournalledAgent | undefined> {
    return this.#api.forgetAgent(agentId);
  }

  /** Copies the journal, as it is kept, to a path where nothing is. */
  backup(target: string): Promise<void> {
    return this.#api.backup(target);
  }

  whenKept(): Promise<void> {
    return this.#writer.whenKept();
  }

  /** Lets these agents have what they kept in former threads and processes, before anything reaches them. */
  async remember(cells: readonly Cell[]): Promise<void> {
    const durable = cells.filter(({ row }) => row.profile.durable);
    if (durable.length === 0) return;
    const left = await this.#api.agentRecords(durable.map(({ row }) => row.id));
    durable.forEach((cell, at) => {
      const { row, client } = cell;
      client.records = new AgentRecords({
        agentId: row.id,
        left: left[at] ?? [],
        journal: this,
        taint: () => taintOn(cell, undefined),
        absorbTaint: (taint) => absorbAtClient(cell, taint),
      });
    });
    for (const cell of durable) this.states.remember(cell);
  }

  /** Gives these agents what is left for them. Resolves when each has the first of it. */
  async recover(cells: readonly Cell[]): Promise<void> {
    await Promise.all(
      cells.map(async (cell) => {
        const taken = await this.#api.taken(cell.row.id);
        for (const { sender, id, answer } of taken)
          cell.outcomes.repeatable.add(sender, id, answerOf(answer));
        const count = await this.#api.countLeft(cell.row.id, this.#incarnation);
        if (count > 0 && !this.#recovery.isAt(cell)) await this.#recovery.begin(cell, count);
      }),
    );
  }

  /** These agents' former thread has died: what it was still to be given of what was left comes before anything newer. */
  awaitRest(cells: readonly Cell[]): void {
    for (const cell of cells) {
      if (!cell.row.profile.durable) continue;
      this.#bereft.add(cell);
      cell.expectLeft(true);
    }
  }

  /** The agent has these of a dead thread; what was left for it among them is replayed again if this one dies. */
  replayed(cell: Cell, mails: readonly Mail[]): void {
    const numbers = mails.filter(({ kept }) => kept > 0).map(({ kept }) => kept);
    if (numbers.length > 0) this.#held(cell, numbers);
  }

  /** The agent has what its former thread had in hand, and gets the rest of what was left for it. */
  async giveRest(cell: Cell): Promise<void> {
    if (!this.#bereft.delete(cell)) return;
    try {
      await this.recover([cell]);
    } catch (error) {
      this.#onProblem(error);
    }
    if (!this.#recovery.isAt(cell)) cell.expectLeft(false);
  }

  /** The system stops: what waits from now on waits in the journal, whatever becomes of it here. */
  leave(): void {
    this.#isLeft = true;
  }

  close(): void {
    this.#connection.close();
    this.#questions.cut(systemStopped('its journal is closed'));
    this.#starts.takeBack();
    this.#notes.close();
    this.#spends.close();
  }

  /** The journal needs not give these again. It hears so before it hears of what comes of them, and of the next thread. */
  #held({ row }: Cell, numbers: readonly number[]): void {
    this.#api.heldLeft(row.id, numbers).catch(() => undefined); // A journal that has ended gives nothing.
  }

  /** What is noted as begun on, and not known in the journal to be settled. */
  #open(node: ThreadNode): readonly number[] {
    const inHand = [...node.cells()].flatMap((cell) => cell.handlings.map(({ mail }) => mail?.kept ?? 0));
    return [...inHand.filter((kept) => kept > 0), ...this.#writer.unsettled(), ...this.#starts.ahead];
  }

  get #api(): Remote<Journal> {
    return this.#questions.api;
  }
}

const takenBy = ({ row, outcomes }: Cell, { sender, id }: Mail): TakenId => ({
  agent: row.id,
  sender,
  id,
  answer: textOf(outcomes.repeatable.answerTo(sender, id)),
});

/** An answer that JSON cannot say is not known to the next process: it only knows that the envelope was taken. */
function textOf(answer: Answer | undefined): string {
  if (answer?.kind === undefined) return '';
  try {
    const { kind, payload, reports, taint, droppedReports } = answer;
    const known = [kind, payload, reports];
    if (droppedReports !== undefined) return JSON.stringify([...known, taint ?? null, droppedReports]);
    return JSON.stringify(taint === undefined ? known : [...known, taint]);
  } catch {
    return '';
  }
}

function answerOf(text: string): Answer {
  if (text === '') return { kind: undefined, payload: undefined };
  type Kept = [number, unknown, unknown[] | null, (Taint | null)?, number?];
  const [kind, payload, reports, taint, droppedReports] = JSON.parse(text) as Kept;
  return { kind, payload, reports: reports ?? undefined, taint: taint ?? undefined, droppedReports };
}
