import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Amounts } from '../../runtime/budget/amounts.ts';
import { MemoryMedium, MemoryStore } from '../../runtime/journal/memory-store.ts';
import { newAccountMemory } from '../../runtime/budget/account-memory.ts';
import { Accounts } from '../../runtime/budget/accounts.ts';
import type { JournalledFunds } from '../../runtime/mailbox/journalled-funds.ts';
import { Journal } from '../../runtime/journal/journal.ts';
import { type OpenNotes, spendFiles } from '../../runtime/journal/spend-file.ts';
import { ringFiles } from '../../runtime/journal/started-ring.ts';
import { Mail, NO_ASK } from '../../runtime/mailbox/mail.ts';
import { MailRecorder, mailFromRecord } from '../../runtime/mailbox/mail-record.ts';
import { nodeEventLoop } from '../../runtime/protocol/system-seams.ts';
import { FakeClock } from '../fixtures/fake-clock.ts';

const THREADS = 3;
const AGENT = 'mars';

/** A budget as it was granted, and what was spent on it and below it in all lives. */
interface Grant {
  readonly above: Grant | undefined;
  readonly own: Amounts;
  readonly spent: { tokens: number; micros: number };
}

/** An envelope that waits or is in hand. */
interface Funded {
  readonly grant: Grant;
  readonly number: number;
  account: number;
  /** What was spent on it in this life. */
  spentNow: { tokens: number; micros: number };
}

/** One process after the other on one journal: what has accounts in them, and what comes of these. */
class BudgetLives {
  readonly #medium: MemoryMedium;
  readonly #path: string;
  #boot = 1;
  #memory = newAccountMemory(512);
  #threads: Accounts[] = [];
  #notes: OpenNotes[] = [];
  #store: MemoryStore | undefined;
  #journal: Journal | undefined;
  readonly grants: Grant[] = [];
  readonly mails: Funded[] = [];

  constructor(medium: MemoryMedium, path: string) {
    this.#medium = medium;
    this.#path = path;
  }

  thread(at: number): Accounts {
    return this.#threads[at % THREADS] as Accounts;
  }

  async begin(): Promise<void> {
    this.#memory = newAccountMemory(512);
    this.#store = new MemoryStore({ medium: this.#medium });
    const spends = { ...spendFiles, boot: () => String(this.#boot) };
    const seams = { clock: new FakeClock(), random: () => 0 };
    this.#journal = await Journal.open(
      {
        store: this.#store,
        rings: { ...ringFiles, spends },
        accounts: this.#memory,
        seams,
        loop: nodeEventLoop(),
      },
      { file: this.#path },
    );
    this.#threads = Array.from(
      { length: THREADS },
      (_, incarnation) => new Accounts(this.#memory, incarnation),
    );
    this.#notes = this.#threads.map((accounts, incarnation) => {
      const isOpen = (account: number) => accounts.isOpen(account);
      const notes = spendFiles.open(this.#path, { run: accounts.run, incarnation, isOpen });
      accounts.noteIn(notes);
      return notes;
    });
    await this.#recover();
  }

  /** What the journal has gets its accounts, a few at a time, in any thread. */
  async #recover(): Promise<void> {
    const journal = this.#journal as Journal;
    for (let page = 0; ; page++) {
      const left = await journal.takeLeft(AGENT, 3, 0);
      if (left.length === 0) return;
      const funds = left.map((one) => mailFromRecord(one).extras?.funds as JournalledFunds);
      const accounts = journal.openAccounts(funds, page % THREADS);
      left.forEach(({ number }, at) => {
        const mail = this.mails.find((one) => one.number === number) as Funded;
        mail.account = accounts[at] as number;
        mail.spentNow = { tokens: 0, micros: 0 };
      });
    }
  }

  grantOf(above: Grant | undefined, own: Amounts): Grant {
    const grant = { above, own, spent: { tokens: 0, micros: 0 } };
    this.grants.push(grant);
    return grant;
  }

  /** An envelope that draws on this account is kept. */
  async keep(account: number, grant: Grant, at: number): Promise<void> {
    const funds = this.thread(at).fundsOf(account) as JournalledFunds;
    const mail = new Mail('m', '', 0, 'a', AGENT, undefined, 1, null, undefined, 0, NO_ASK, undefined, {
      budget: {},
      account,
      funds,
    });
    const mails = [{ recipient: AGENT, body: new MailRecorder().record(mail) }];
    const [number = 0] = await (this.#store as MemoryStore).write([{ mails, settled: [], records: [] }]);
    this.mails.push({ grant, number, account, spentNow: { tokens: 0, micros: 0 } });
  }

  async settle(mail: Funded, at: number): Promise<void> {
    this.mails.splice(this.mails.indexOf(mail), 1);
    this.thread(at).close(mail.account);
    await (this.#store as MemoryStore).write([{ mails: [], settled: [mail.number], records: [] }]);
  }

  /** Kept are mails only: what drew on budgets of the process is gone with it. */
  kill({ powerLoss = false } = {}): void {
    this.#store?.crash();
    for (const notes of this.#notes) notes.close();
    if (!powerLoss) return;
    spendFiles.remove(this.#path);
    this.#boot += 1;
  }

  async stop(): Promise<void> {
    await this.#journal?.close();
    for (const notes of this.#notes) notes.close();
    // What was synced is there after that, too.
    this.#boot += 1;
  }

  records(): number {
    return this.#medium.records.get('spent')?.size ?? 0;
  }
}

let folder: string;
let runs = 0;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'orrery-budgets-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

type Step =
  | {
      readonly do: 'send';
      readonly above: number;
      readonly isNew: boolean;
      readonly own: Amounts;
      readonly at: number;
    }
  | {
      readonly do: 'spend' | 'refund';
      readonly mail: number;
      readonly by: Required<Cost>;
      readonly at: number;
    }
  | { readonly do: 'settle'; readonly mail: number; readonly at: number }
  | { readonly do: 'kill' | 'stop' | 'lose power' };
interface Cost {
  readonly tokens: number;
  readonly micros: number;
}

const at = fc.nat(THREADS - 1);
const index = fc.nat(20);
const amount = fc.option(fc.integer({ min: 0, max: 60 }), { nil: undefined });
const own = fc.record({ tokens: amount, micros: amount });
const by = fc.record({ tokens: fc.nat(12), micros: fc.nat(12) });
const arbStep = (ends: readonly ('kill' | 'stop' | 'lose power')[]): fc.Arbitrary<Step> =>
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({ do: fc.constant('send' as const), above: index, isNew: fc.boolean(), own, at }),
    },
    {
      weight: 6,
      arbitrary: fc.record({ do: fc.constantFrom('spend' as const, 'refund' as const), mail: index, by, at }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('settle' as const), mail: index, at }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constantFrom(...ends) }) },
  );

const isLimited = ({ own: { tokens, micros } }: Grant): boolean =>
  tokens !== undefined || micros !== undefined;

/** From the envelope's own grant up. */
function* upFrom(grant: Grant): Iterable<Grant> {
  for (let one: Grant | undefined = grant; one !== undefined; one = one.above) yield one;
}

function note(grant: Grant, { tokens, micros }: Cost, sign: 1 | -1): void {
  for (const { spent } of upFrom(grant)) {
    spent.tokens += sign * tokens;
    spent.micros += sign * micros;
  }
}

const pick = <Item>(items: readonly Item[], which: number): Item | undefined =>
  items.length === 0 ? undefined : items[which % items.length];

async function perform(lives: BudgetLives, step: Step): Promise<void> {
  switch (step.do) {
    case 'send': {
      const above = step.isNew ? undefined : pick(lives.mails, step.above);
      const grant = lives.grantOf(above?.grant, step.own);
      if (![...upFrom(grant)].some(isLimited)) return;
      const account = lives.thread(step.at).open(above?.account, step.own);
      if (typeof account === 'number') await lives.keep(account, grant, step.at);
      return;
    }
    case 'spend': {
      const mail = pick(lives.mails, step.mail);
      if (mail === undefined || lives.thread(step.at).spend(mail.account, step.by) !== undefined) return;
      note(mail.grant, step.by, 1);
      mail.spentNow.tokens += step.by.tokens;
      mail.spentNow.micros += step.by.micros;
      return;
    }
    case 'refund': {
      const mail = pick(lives.mails, step.mail);
      if (
        mail === undefined ||
        mail.spentNow.tokens < step.by.tokens ||
        mail.spentNow.micros < step.by.micros
      )
        return;
      lives.thread(step.at).refund(mail.account, step.by);
      note(mail.grant, step.by, -1);
      mail.spentNow.tokens -= step.by.tokens;
      mail.spentNow.micros -= step.by.micros;
      return;
    }
    case 'settle': {
      const mail = pick(lives.mails, step.mail);
      if (mail !== undefined) await lives.settle(mail, step.at);
      return;
    }
    case 'kill':
    case 'lose power':
      lives.kill({ powerLoss: step.do === 'lose power' });
      return lives.begin();
    case 'stop':
      await lives.stop();
      return lives.begin();
  }
}

function expectWithin({ grants }: BudgetLives): void {
  for (const { own: granted, spent } of grants) {
    expect(spent.tokens).toBeLessThanOrEqual(granted.tokens ?? Infinity);
    expect(spent.micros).toBeLessThanOrEqual(granted.micros ?? Infinity);
  }
}

/** Whose tokens an envelope spends. */
const purseOf = ({ grant }: Funded): Grant | undefined =>
  [...upFrom(grant)].find(({ own: { tokens } }) => tokens !== undefined);

/** Every envelope spends all the tokens that it can. */
function spendAll(lives: BudgetLives): void {
  for (const mail of lives.mails) {
    const { tokens = 0 } = lives.thread(0).left(mail.account);
    if (lives.thread(0).spend(mail.account, { tokens }) === undefined)
      note(mail.grant, { tokens, micros: 0 }, 1);
  }
}

async function liveThrough(steps: readonly Step[]): Promise<BudgetLives> {
  const own = join(folder, String(runs++));
  mkdirSync(own);
  const lives = new BudgetLives(new MemoryMedium(), join(own, 'journal'));
  await lives.begin();
  for (const step of steps) {
    await perform(lives, step);
    expectWithin(lives);
  }
  return lives;
}

describe('Budgets of envelopes that outlive their process (F-04)', () => {
  it('are not exceeded in all processes together, whatever was spent, granted and settled when one was killed', async () => {
    const steps = fc.array(arbStep(['kill', 'stop', 'lose power']), { minLength: 5, maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(steps, async (given) => {
        const lives = await liveThrough(given);
        spendAll(lives);
        expectWithin(lives);
        lives.kill();
      }),
      { numRuns: 300 },
    );
  }, 60_000);

  it('can be spent to the last, where nothing is set apart for others, unless the machine lost power', async () => {
    const steps = fc.array(arbStep(['kill', 'stop']), { minLength: 5, maxLength: 60 });
    let checked = 0;
    await fc.assert(
      fc.asyncProperty(steps, async (given) => {
        const lives = await liveThrough([...given, { do: 'kill' }]);
        const purses = new Set(lives.mails.map(purseOf));
        const all = new Set(lives.mails.flatMap(({ grant }) => [...upFrom(grant)]));
        const limits = [...all].filter((grant) => grant.own.tokens !== undefined);
        spendAll(lives);
        if (limits.every((grant) => purses.has(grant))) {
          const tops = limits.filter(
            (grant) => ![...upFrom(grant)].slice(1).some((above) => limits.includes(above)),
          );
          for (const { own: granted, spent } of tops) expect(spent.tokens).toBe(granted.tokens);
          checked += tops.length;
        }
        lives.kill();
      }),
      { numRuns: 120 },
    );
    expect(checked).toBeGreaterThan(20);
  }, 60_000);

  it('have nothing left when the machine lost power, for then nobody knows what was spent', async () => {
    const send: Step = { do: 'send', above: 0, isNew: true, own: { tokens: 9 }, at: 0 };
    const lives = await liveThrough([send, { do: 'lose power' }, { ...send, own: { tokens: 5 } }]);
    const left = lives.mails.map(({ account }) => lives.thread(0).left(account).tokens);
    expect(left).toEqual([0, 5]);
    await perform(lives, { do: 'kill' });
    expect(lives.mails.map(({ account }) => lives.thread(0).left(account).tokens)).toEqual([0, 5]);
    lives.kill();
  });

  it('of which nobody keeps anything are forgotten', async () => {
    const lives = await liveThrough([
      { do: 'send', above: 0, isNew: true, own: { tokens: 9 }, at: 0 },
      { do: 'spend', mail: 0, by: { tokens: 4, micros: 0 }, at: 1 },
      { do: 'kill' },
    ]);
    expect(lives.records()).toBe(2);
    await lives.settle(lives.mails[0] as Funded, 0);
    await perform(lives, { do: 'kill' });
    expect(lives.records()).toBe(0);
    lives.kill();
  });
});
