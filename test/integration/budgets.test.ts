import { BROADCAST, type Budget, SCHEMA_VERSION } from 'orrery';
import { describe, expect, it } from 'vitest';
import { heldBy, letGo, newTally, work, workApart } from '../fixtures/agents/spending.ts';
import { ask, job, NAMES, PASS, run, spend, spendingTeam, tell } from '../fixtures/spending-team.ts';
import { rejection, until } from '../fixtures/until.ts';

const team = spendingTeam();

describe('A budget for one ask (F-04)', () => {
  it.each([
    ['within one thread', 'c'],
    ['across threads', 'b'],
  ])('is shared by all that it causes, %s', async (_, other) => {
    const report = await run(
      team.system,
      job('a', spend(30), ask(job(other, spend(60), PASS)), spend(20), PASS),
      {
        budget: { tokens: 100, costUsd: 1 },
      },
    );
    expect(report).toEqual([
      'ok',
      { jobs: [['ok', { left: { tokens: 10, costUsd: 1 } }]] },
      { refused: { asked: { tokens: 20 }, left: { tokens: 10, costUsd: 1 } } },
      { left: { tokens: 10, costUsd: 1 } },
    ]);
  });

  it('is shared with an agent in a process of its own, and by those whom that asks', async () => {
    const below = { ...job('b', spend(31), spend(20), PASS), budget: { tokens: 30 } };
    const apart = job(
      'apart',
      spend(10),
      { do: 'refund', cost: { tokens: 4 } },
      PASS,
      ask(below),
      spend(75),
      PASS,
    );
    const given = job('a', spend(1), ask(apart), PASS);
    const target = { agent: 'a', capability: workApart };
    const report = await team.system.ask(target, { job: given }, { budget: { tokens: 100 } });
    const left = (tokens: number) => ({ left: { tokens } });
    const refused = (asked: number, tokens: number) => ({
      refused: { asked: { tokens: asked }, left: { tokens } },
    });
    const inProcess = [
      'ok',
      'ok',
      left(93),
      { jobs: [[refused(31, 30), 'ok', left(10)]] },
      refused(75, 73),
      left(73),
    ];
    expect(report).toEqual(['ok', { jobs: [inProcess] }, left(73)]);
  });

  it('is split where a part is granted, and what is not spent of that is there again with the answer', async () => {
    const granted = { ...job('b', spend(31), spend(30), PASS), budget: { tokens: 40 } };
    const failed = { ...job('b', spend(9), { do: 'fail' }), budget: { tokens: 40 } };
    const report = await run(team.system, job('a', ask(granted), PASS, ask(failed), PASS), {
      budget: { tokens: 100 },
    });
    expect(report).toEqual([
      {
        jobs: [['ok', { refused: { asked: { tokens: 30 }, left: { tokens: 9 } } }, { left: { tokens: 9 } }]],
      },
      { left: { tokens: 69 } },
      { jobs: [['REFUSED']] },
      { left: { tokens: 60 } },
    ]);
  });

  it('does not let anything begin for which it has not enough', async () => {
    const tally = newTally();
    const tooMuch = { ...job('b', { do: 'hold' }), budget: { tokens: 101 } };
    const report = await run(team.system, job('a', ask(tooMuch), PASS), { budget: { tokens: 100 } }, tally);
    expect(report).toEqual([{ jobs: [['BUDGET_EXCEEDED']] }, { left: { tokens: 100 } }]);
    expect(heldBy(tally)).toBe(0);
  });

  it('that is used up asks nobody any more, and still tells', async () => {
    const report = await run(team.system, job('a', spend(5), ask(job('b')), tell(job('b', PASS))), {
      budget: { tokens: 5 },
    });
    expect(report).toEqual(['ok', { jobs: [['BUDGET_EXCEEDED']] }, 'ok']);
  });

  it('ends delegation after as many hops as it has: HOP_LIMIT', async () => {
    const chain = job('a', ask(job('b', ask(job('c', PASS, ask(job('d')))))));
    expect(await run(team.system, chain, { budget: { hops: 2 } })).toEqual([
      { jobs: [[{ jobs: [[{ left: { hops: 0 } }, { jobs: [['HOP_LIMIT']] }]] }]] },
    ]);
  });

  it('can be learnt from what is refused: code, sentence and details', async () => {
    using account = team.system.openAccount({ tokens: 4, costUsd: 0.5 });
    const refused = run(account, job('a'), { budget: { tokens: 5, costUsd: 0.1 } });
    await expect(refused).rejects.toMatchObject({
      code: 'BUDGET_EXCEEDED',
      message: 'The budget has 4 tokens and 0.5 USD left, asked for: 5 tokens and 0.1 USD',
      details: { asked: { tokens: 5, costUsd: 0.1 }, left: { tokens: 4, costUsd: 0.5 } },
    });
  });

  it('lasts as long as something that it caused is under way, also after the answer', async () => {
    const tally = newTally();
    const later = job('b', { do: 'hold' }, spend(3), PASS);
    using account = team.system.openAccount({ tokens: 10 });
    await run(account, job('a', spend(2), tell(later)), { budget: { tokens: 6 } }, tally);
    await until('it holds', () => heldBy(tally) === 1);
    expect(account.left).toEqual({ tokens: 4 });
    letGo(tally);
    await until('the rest is back', () => account.left.tokens === 5);
    expect(account.spent).toEqual({ tokens: 5, costUsd: 0 });
  });

  it('is shared by everybody whom a broadcast reaches', async () => {
    using account = team.system.openAccount({ tokens: 10 });
    const { delivered, refused = [] } = account.tell(BROADCAST, 3, { budget: { tokens: 10 } });
    expect({ delivered, refused }).toEqual({ delivered: true, refused: [] });
    // Three of the six find enough; what the others leave comes back.
    await until('it is over', () => team.open() === 1);
    expect(account.left).toEqual({ tokens: 1 });
    expect(account.spent).toEqual({ tokens: 9, costUsd: 0 });
  });
});

describe('An account of the embedder (F-04)', () => {
  it('pays for many asks, and says what is left and what was spent', async () => {
    using account = team.system.openAccount({ tokens: 100, costUsd: 1, hops: 3 });
    await Promise.all(NAMES.map((name) => run(account, job(name, spend(10)))));
    expect(account.left).toEqual({ tokens: 60, costUsd: 1, hops: 3 });
    expect(account.spent).toEqual({ tokens: 40, costUsd: 0 });
    const everything = run(account, job('a', spend(60)), { budget: { tokens: 60 } });
    expect(await everything).toEqual(['ok']);
    expect((await rejection(run(account, job('a')))).code).toBe('BUDGET_EXCEEDED');
  });

  it('counts what is spent where nothing is limited', async () => {
    using account = team.system.openAccount({});
    expect(await run(account, job('a', spend(7), ask(job('b', spend(8), PASS))))).toEqual([
      'ok',
      { jobs: [['ok', { left: {} }]] },
    ]);
    expect(account.left).toEqual({});
    expect(account.spent).toEqual({ tokens: 15, costUsd: 0 });
  });

  it('sends nothing when it is closed, and still knows what was spent', async () => {
    const account = team.system.openAccount({ tokens: 10 });
    await run(account, job('a', spend(4)));
    account.close();
    account.close();
    expect(account.spent).toEqual({ tokens: 4, costUsd: 0 });
    expect(account.left).toEqual({ tokens: 6 });
    expect((await rejection(run(account, job('a')))).code).toBe('BUDGET_EXCEEDED');
    expect(account.tell('a', null).errorCode).toBe('BUDGET_EXCEEDED');
  });
});

describe('A budget on an envelope that is sent by hand (F-04)', () => {
  const envelope = (budget: unknown, type = 'request') => ({
    id: `by-hand-${Math.floor(performance.now() * 1e6)}`,
    schemaVersion: SCHEMA_VERSION,
    sender: 'system/host',
    recipient: 'a',
    type,
    timestamp: 1,
    payload: null,
    metadata: { tier: 0, budget },
  });

  it.each([
    ['used up', { tokens: 0 }, 'BUDGET_EXCEEDED', 'The budget has 0 tokens left'],
    ['below nothing', { tokens: -1 }, 'INVALID_ENVELOPE', 'metadata.budget.tokens'],
    ['no number', { costUsd: '1' }, 'INVALID_ENVELOPE', 'metadata.budget.costUsd'],
    ['of another kind', { euros: 1 }, 'INVALID_ENVELOPE', 'metadata.budget'],
  ])('is refused when it is %s', async (_, budget, code, text) => {
    const { delivered, errorCode, error } = await team.system.send(envelope(budget) as never);
    expect({ delivered, errorCode }).toEqual({ delivered: false, errorCode: code });
    expect(error).toContain(text);
  });

  it('opens an account that is closed when the envelope is over', async () => {
    expect((await team.system.send(envelope({ tokens: 5 }) as never)).delivered).toBe(true);
  });

  it('is an amount to whoever handles it', async () => {
    const left = run(team.system, job('a', PASS), { budget: { tokens: 5, hops: 1 } });
    expect(await left).toEqual([{ left: { tokens: 5, hops: 1 } }]);
    const [sent] = (await team.system.recentEvents()).filter(({ type }) => type === 'message-sent').slice(-1);
    const [shown] = await team.system.thread(sent?.correlationId ?? '');
    expect(shown?.metadata?.budget).toEqual({ tokens: 5, hops: 1 });
  });
});

describe('A budget that is none (F-04)', () => {
  const WRONG = [
    [{ tokens: -1 }, 'budget.tokens is -1'],
    [{ tokens: 1.5 }, 'budget.tokens is 1.5'],
    [{ costUsd: Number.NaN }, 'budget.costUsd is NaN'],
    [{ hops: -2 }, 'budget.hops is -2'],
    [{ euros: 3 }, 'budget.euros is 3'],
    [7, 'budget is 7'],
  ] as const;

  it.each(WRONG)('is refused with INVALID_OPTIONS, naming field and value: %j', async (given, text) => {
    const budget = given as Budget;
    const refusal = { code: 'INVALID_OPTIONS', message: expect.stringContaining(text) };
    await expect(run(team.system, job('a'), { budget })).rejects.toMatchObject(refusal);
    await expect(team.system.tellWhenRoom('a', null, { budget })).rejects.toMatchObject(refusal);
    expect(() => team.system.stream(work as never, null as never, { budget })).toThrow(
      expect.objectContaining(refusal),
    );
    expect(() => team.system.tell('a', null, { budget })).toThrow(expect.objectContaining(refusal));
    expect(() => team.system.openAccount(budget)).toThrow(expect.objectContaining(refusal));
    const inAgent = run(team.system, job('a', ask({ ...job('b'), budget })));
    expect(await inAgent).toEqual([{ jobs: [['INVALID_OPTIONS']] }]);
  });
});

describe('What is not sent (F-04)', () => {
  it.each([
    ['to nobody', 'nobody', 'AGENT_NOT_FOUND'],
    ['further than it may go', 'a', 'PATH_LOOP'],
  ])('gives back what was granted: %s', async (_, name, code) => {
    const refused = { ...job(name), budget: { tokens: 60 } };
    const report = await run(team.system, job('a', ask(refused), tell(refused), PASS), {
      budget: { tokens: 100 },
    });
    const told = name === 'a' ? 'ok' : code;
    expect(report.slice(0, 2)).toEqual([{ jobs: [[code]] }, told]);
    if (told !== 'ok') expect(report[2]).toEqual({ left: { tokens: 100 } });
  });

  it('for want of room, now or when its time is over', async () => {
    const tally = newTally();
    const holding = run(team.system, job('b', { do: 'hold' }), {}, tally);
    await until('it holds', () => heldBy(tally) === 1);
    using account = team.system.openAccount({ tokens: 2_000 });
    const waiting = Array.from({ length: 999 }, () => account.tell('b', null, { budget: { tokens: 1 } }));
    expect(waiting.every(({ delivered }) => delivered)).toBe(true);
    expect(account.left).toEqual({ tokens: 1_001 });
    const budget = { tokens: 500 };
    expect(account.tell('b', null, { budget }).errorCode).toBe('MAILBOX_FULL');
    expect(account.left).toEqual({ tokens: 1_001 });
    const parked = run(account, job('b'), { budget, whenFull: 'park', timeoutMs: 50 });
    expect(account.left).toEqual({ tokens: 501 });
    expect((await rejection(parked)).code).toBe('DEADLINE_EXCEEDED');
    expect(account.left).toEqual({ tokens: 1_001 });
    letGo(tally);
    await holding;
    await until('all of it is back', () => account.left.tokens === 2_000);
  });
});
