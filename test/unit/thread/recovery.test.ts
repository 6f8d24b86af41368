import { describe, expect, it } from 'vitest';
import type { Cell } from '../../../runtime/cell/cell.ts';
import { Mail, type MailExtras, NO_ASK, typeIndex } from '../../../runtime/mailbox/mail.ts';
import { MailRecorder } from '../../../runtime/mailbox/mail-record.ts';
import { Recovery, type RecoveryDeps } from '../../../runtime/thread/recovery.ts';

/** As a former process left it; `starts` counts the processes that had begun on it. */
const left = (number: number, id: string, starts: number, extras?: MailExtras) => ({
  number,
  starts,
  recipient: 'worker',
  body: new MailRecorder().record(
    new Mail(
      id,
      '',
      typeIndex('request'),
      'asker',
      'worker',
      id,
      0,
      'this',
      'work',
      0,
      NO_ASK,
      undefined,
      extras,
    ),
  ),
});

/** Gives what `deps` take to the cell of an agent, which notes what is delivered to it. */
function recoveryFor(
  delivery: 'once' | 'retry',
  deps: Pick<RecoveryDeps, 'take'> & Partial<RecoveryDeps>,
): { recovery: Recovery; cell: Cell; delivered: Mail[] } {
  const delivered: Mail[] = [];
  const recovery = new Recovery({
    onDelivered: () => undefined,
    deliver: (_cell, mail) => delivered.push(mail),
    onProblem: (error) => {
      throw error;
    },
    openAccounts: async () => [],
    ...deps,
  });
  const cell = {
    row: { id: 'worker', profile: { delivery } },
    expectLeft: () => undefined,
  } as unknown as Cell;
  return { recovery, cell, delivered };
}

type Page = readonly ReturnType<typeof left>[];

/** Takes one page after the other. */
function takes(...pages: Page[]): () => Promise<Page> {
  return async () => pages.shift() ?? [];
}

/** What an agent is given of what was left for it. */
async function given(delivery: 'once' | 'retry', mails: Page): Promise<Mail[]> {
  const { recovery, cell, delivered } = recoveryFor(delivery, { take: takes(mails) });
  await recovery.begin(cell, mails.length);
  return delivered;
}

const derived = { derived: true } as const;

describe('What former processes left for an agent (F-01)', () => {
  it('is told of, or tried again, when it had been begun on', async () => {
    const mails = [left(1, 'begun', 1), left(2, 'waiting', 0)];
    const [begun, waiting] = await given('once', mails);
    expect([begun?.tombstone?.code, waiting?.tombstone]).toEqual(['ACTOR_DIED', undefined]);
    const [again, first] = await given('retry', mails);
    expect([again?.attempts, first?.attempts, again?.tombstone]).toEqual([1, 0, undefined]);
  });

  it('is not begun on for the first time when the same was, that was sent again', async () => {
    const mails = [left(1, 'job', 0, derived), left(2, 'other', 0, derived), left(3, 'job', 1, derived)];
    const told = await given('once', mails);
    expect(told.map(({ tombstone }) => tombstone?.code)).toEqual(['ACTOR_DIED', undefined, undefined]);
    const tried = await given('retry', mails);
    expect(tried.map(({ attempts }) => attempts)).toEqual([1, 0, 0]);
    const others = await given('once', [left(1, 'job', 0), left(2, 'job', 1)]);
    expect(others.map(({ tombstone }) => tombstone?.code)).toEqual([undefined, 'ACTOR_DIED']);
  });

  it('stays where it is, and nobody waits for it, when the agent is removed meanwhile', async () => {
    const page = Promise.withResolvers<Page>();
    const { recovery, cell, delivered } = recoveryFor('once', { take: () => page.promise });
    const begun = recovery.begin(cell, 2);
    expect([recovery.isIdle, recovery.left]).toEqual([false, 2]);
    recovery.forget(cell);
    page.resolve([left(1, 'one', 0), left(2, 'two', 0)]);
    await begun;
    expect({ delivered, isIdle: recovery.isIdle, left: recovery.left }).toEqual({
      delivered: [],
      isIdle: true,
      left: 0,
    });
  });

  it('is waited for by nobody when the agent is removed while its accounts are opened', async () => {
    const accounts = Promise.withResolvers<readonly number[]>();
    const { recovery, cell, delivered } = recoveryFor('once', {
      take: takes([left(1, 'one', 0, { funds: [[1, 9, null]] } as MailExtras)]),
      openAccounts: () => accounts.promise,
    });
    const begun = recovery.begin(cell, 1);
    await new Promise((resolve) => setImmediate(resolve));
    recovery.forget(cell);
    accounts.resolve([7]);
    await begun;
    // Its account is let go of where it is refused, and nobody hears of it here.
    expect({ accounts: delivered.map(({ extras }) => extras?.account), isIdle: recovery.isIdle }).toEqual({
      accounts: [7],
      isIdle: true,
    });
  });
});
