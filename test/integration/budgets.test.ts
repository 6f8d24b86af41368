import {
  type Account,
  type AskOptions,
  BROADCAST,
  type Budget,
  type OrreryError,
  SCHEMA_VERSION,
  type System,
} from 'orrery';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  heldBy,
  type Job,
  letGo,
  newTally,
  type Report,
  type Step,
  tallied,
  work,
  workApart,
} from '../fixtures/agents/spending.ts';
import { systemWithCountedAccounts } from '../fixtures/counted-accounts.ts';
import { agent, rejection, until } from '../fixtures/until.ts';

const NAMES = ['a', 'b', 'c', 'd'];
let system: System;
let open: () => number;

beforeAll(async () => {
  // One after the other: a, c and retry-a live in the first worker, b, d and retry-b in the second.
  ({ system, open } = await systemWithCountedAccounts({
    agents: [
      ...NAMES.map((name) => agent('spender', { instances: [name] })),
      ...['retry-a', 'retry-b'].map((name) => agent('retry-spender', { instances: [name] })),
      agent('spender', { instances: ['apart'], isolation: 'process' as const }),
    ],
    supervision: { intensity: { maxRestarts: 1e9 }, backOff: { firstMs: 1, maxMs: 1 } },
  }));
});
afterAll(() => system.stop());
afterEach(() => until('every account is closed', () => open() === 0));

const job = (name: string, ...steps: Step[]): Job => ({ agent: name, steps });
const spend = (tokens: number): Step => ({ do: 'spend', cost: { tokens } });
const ask = (...jobs: Job[]): Step => ({ do: 'ask', jobs, isParallel: false });
const tell = (given: Job): Step => ({ do: 'tell', job: given });
const PASS: Step = { do: 'pass' };

function run(
  sender: System | Account,
  given: Job,
  options: AskOptions = {},
  tally = newTally(),
): Promise<Report> {
  return sender.ask({ agent: given.agent, capability: work }, { job: given, tally }, options);
}

describe('A budget for one ask (F-04)', () => {
  it.each([
    ['within one thread', 'c'],
    ['across threads', 'b'],
  ])('is shared by all that it causes, %s', async (_, other) => {
    const report = await run(system, job('a', spend(30), ask(job(other, spend(60), PASS)), spend(20), PASS), {
      budget: { tokens: 100, costUsd: 1 },
    });
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
    const report = await system.ask(target, { job: given }, { budget: { tokens: 100 } });
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
    const report = await run(system, job('a', ask(granted), PASS, ask(failed), PASS), {
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
    const report = await run(system, job('a', ask(tooMuch), PASS), { budget: { tokens: 100 } }, tally);
    expect(report).toEqual([{ jobs: [['BUDGET_EXCEEDED']] }, { left: { tokens: 100 } }]);
    expect(heldBy(tally)).toBe(0);
  });

  it('that is used up asks nobody any more, and still tells', async () => {
    const report = await run(system, job('a', spend(5), ask(job('b')), tell(job('b', PASS))), {
      budget: { tokens: 5 },
    });
    expect(report).toEqual(['ok', { jobs: [['BUDGET_EXCEEDED']] }, 'ok']);
  });

  it('ends delegation after as many hops as it has: HOP_LIMIT', async () => {
    const chain = job('a', ask(job('b', ask(job('c', PASS, ask(job('d')))))));
    expect(await run(system, chain, { budget: { hops: 2 } })).toEqual([
      { jobs: [[{ jobs: [[{ left: { hops: 0 } }, { jobs: [['HOP_LIMIT']] }]] }]] },
    ]);
  });

  it('can be learnt from what is refused: code, sentence and details', async () => {
    using account = system.openAccount({ tokens: 4, costUsd: 0.5 });
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
    using account = system.openAccount({ tokens: 10 });
    await run(account, job('a', spend(2), tell(later)), { budget: { tokens: 6 } }, tally);
    await until('it holds', () => heldBy(tally) === 1);
    expect(account.left).toEqual({ tokens: 4 });
    letGo(tally);
    await until('the rest is back', () => account.left.tokens === 5);
    expect(account.spent).toEqual({ tokens: 5, costUsd: 0 });
  });

  it('is shared by everybody whom a broadcast reaches', async () => {
    using account = system.openAccount({ tokens: 10 });
    const { delivered, refused = [] } = account.tell(BROADCAST, 3, { budget: { tokens: 10 } });
    expect({ delivered, refused }).toEqual({ delivered: true, refused: [] });
    // Three of the six find enough; what the others leave comes back.
    await until('it is over', () => open() === 1);
    expect(account.left).toEqual({ tokens: 1 });
    expect(account.spent).toEqual({ tokens: 9, costUsd: 0 });
  });
});

describe('An account of the embedder (F-04)', () => {
  it('pays for many asks, and says what is left and what was spent', async () => {
    using account = system.openAccount({ tokens: 100, costUsd: 1, hops: 3 });
    await Promise.all(NAMES.map((name) => run(account, job(name, spend(10)))));
    expect(account.left).toEqual({ tokens: 60, costUsd: 1, hops: 3 });
    expect(account.spent).toEqual({ tokens: 40, costUsd: 0 });
    const everything = run(account, job('a', spend(60)), { budget: { tokens: 60 } });
    expect(await everything).toEqual(['ok']);
    expect((await rejection(run(account, job('a')))).code).toBe('BUDGET_EXCEEDED');
  });

  it('counts what is spent where nothing is limited', async () => {
    using account = system.openAccount({});
    expect(await run(account, job('a', spend(7), ask(job('b', spend(8), PASS))))).toEqual([
      'ok',
      { jobs: [['ok', { left: {} }]] },
    ]);
    expect(account.left).toEqual({});
    expect(account.spent).toEqual({ tokens: 15, costUsd: 0 });
  });

  it('sends nothing when it is closed, and still knows what was spent', async () => {
    const account = system.openAccount({ tokens: 10 });
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
    const { delivered, errorCode, error } = await system.send(envelope(budget) as never);
    expect({ delivered, errorCode }).toEqual({ delivered: false, errorCode: code });
    expect(error).toContain(text);
  });

  it('opens an account that is closed when the envelope is over', async () => {
    expect((await system.send(envelope({ tokens: 5 }) as never)).delivered).toBe(true);
  });

  it('is an amount to whoever handles it', async () => {
    const left = run(system, job('a', PASS), { budget: { tokens: 5, hops: 1 } });
    expect(await left).toEqual([{ left: { tokens: 5, hops: 1 } }]);
    const [sent] = (await system.recentEvents()).filter(({ type }) => type === 'message-sent').slice(-1);
    const [shown] = await system.thread(sent?.correlationId ?? '');
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
    await expect(run(system, job('a'), { budget })).rejects.toMatchObject(refusal);
    await expect(system.tellWhenRoom('a', null, { budget })).rejects.toMatchObject(refusal);
    expect(() => system.stream(work as never, null as never, { budget })).toThrow(
      expect.objectContaining(refusal),
    );
    expect(() => system.tell('a', null, { budget })).toThrow(expect.objectContaining(refusal));
    expect(() => system.openAccount(budget)).toThrow(expect.objectContaining(refusal));
    const inAgent = run(system, job('a', ask({ ...job('b'), budget })));
    expect(await inAgent).toEqual([{ jobs: [['INVALID_OPTIONS']] }]);
  });
});

describe('What is not sent (F-04)', () => {
  it.each([
    ['to nobody', 'nobody', 'AGENT_NOT_FOUND'],
    ['further than it may go', 'a', 'PATH_LOOP'],
  ])('gives back what was granted: %s', async (_, name, code) => {
    const refused = { ...job(name), budget: { tokens: 60 } };
    const report = await run(system, job('a', ask(refused), tell(refused), PASS), {
      budget: { tokens: 100 },
    });
    const told = name === 'a' ? 'ok' : code;
    expect(report.slice(0, 2)).toEqual([{ jobs: [[code]] }, told]);
    if (told !== 'ok') expect(report[2]).toEqual({ left: { tokens: 100 } });
  });

  it('for want of room, now or when its time is over', async () => {
    const tally = newTally();
    const holding = run(system, job('b', { do: 'hold' }), {}, tally);
    await until('it holds', () => heldBy(tally) === 1);
    using account = system.openAccount({ tokens: 2_000 });
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

describe('The death of an actor (F-04)', () => {
  it('leaves what it had spent spent, and gives back the rest', async () => {
    const dying = { ...job('b', spend(7), { do: 'die' }), budget: { tokens: 50 } };
    const report = await run(system, job('a', ask(dying), PASS), { budget: { tokens: 100 } });
    expect(report).toEqual([{ jobs: [['ACTOR_DIED']] }, { left: { tokens: 93 } }]);
  });

  it('before another attempt leaves what the first one spent spent', async () => {
    const again = { ...job('retry-b', spend(7), PASS, { do: 'die once' }), budget: { tokens: 50 } };
    const report = await run(system, job('a', ask(again), PASS), { budget: { tokens: 100 } });
    expect(report).toEqual([{ jobs: [['ok', { left: { tokens: 36 } }, 'ok']] }, { left: { tokens: 86 } }]);
  });

  it('leaves what it had granted to those whose answers the other attempt gets', async () => {
    const tally = newTally();
    const below = { ...job('a', { do: 'hold' }, spend(7), PASS), budget: { tokens: 20 } };
    const dying: Step = { do: 'ask', jobs: [below], isParallel: true, diesOnce: true };
    const running = run(system, job('retry-b', dying, PASS), { budget: { tokens: 50 } }, tally);
    await until('it holds', () => heldBy(tally) === 1);
    letGo(tally);
    expect(await running).toEqual([
      { jobs: [['ok', 'ok', { left: { tokens: 13 } }]] },
      { left: { tokens: 43 } },
    ]);
  });

  it('by its deadline leaves nothing behind', async () => {
    const late = { ...job('b', spend(7), { do: 'hang' }), budget: { tokens: 50 }, timeoutMs: 50 };
    const report = await run(system, job('a', ask(late)), { budget: { tokens: 100 } });
    expect(report).toEqual([{ jobs: [['DEADLINE_EXCEEDED']] }]);
  });
});

describe('The death of a thread (F-04)', () => {
  it('gives back what its agents had not spent of what they were granted', async () => {
    const tally = newTally();
    const killed = { ...job('b', spend(7), { do: 'hold' }), budget: { tokens: 50 } };
    const running = run(system, job('a', ask(killed), PASS), { budget: { tokens: 100 } }, tally);
    await until('it holds', () => heldBy(tally) === 1);
    await system.terminate('worker-2');
    expect(await running).toEqual([{ jobs: [['ACTOR_DIED']] }, { left: { tokens: 93 } }]);
  });

  it('closes what its agents had granted to each other, of which nothing but a name is left', async () => {
    const tally = newTally();
    using account = system.openAccount({ tokens: 100 });
    // d and what it is told live in the thread that dies.
    const told = { ...job('d', spend(1)), budget: { tokens: 20 } };
    const holding = { ...job('d', { do: 'hold' }), budget: { tokens: 5 } };
    const telling = job('b', spend(7), tell(holding), tell(told), tell(told), { do: 'hold' });
    const running = run(account, telling, { budget: { tokens: 60 } }, tally);
    running.catch(() => undefined);
    await until('both hold', () => heldBy(tally) === 2);
    expect(account.left).toEqual({ tokens: 40 });
    await system.terminate('worker-2');
    expect((await rejection(running)).code).toBe('ACTOR_DIED');
    await until('all of the rest is back', () => account.left.tokens === 93);
  });

  it('takes nothing from what it had told to others before', async () => {
    const tally = newTally();
    using account = system.openAccount({ tokens: 100 });
    const going = { ...job('a', { do: 'hold' }, spend(15), PASS), budget: { tokens: 20 } };
    const running = run(account, job('b', tell(going), { do: 'hold' }), { budget: { tokens: 60 } }, tally);
    // What d is told is lost with its thread: when that is found, all that the thread had opened was looked for.
    using lost = system.openAccount({ tokens: 5 });
    const losing = run(
      lost,
      job('d', tell({ ...job('d'), budget: { tokens: 5 } }), { do: 'hold' }),
      {},
      tally,
    );
    const ends = Promise.all([rejection(running), rejection(losing)]);
    await until('three hold', () => heldBy(tally) === 3);
    await system.terminate('worker-2');
    expect((await ends).map(({ code }) => code)).toEqual(['ACTOR_DIED', 'ACTOR_DIED']);
    await until('what was lost is found', () => lost.left.tokens === 5);
    letGo(tally);
    await until('it has spent, and the rest is back', () => account.left.tokens === 85);
    expect(account.spent).toEqual({ tokens: 15, costUsd: 0 });
  });

  it('before another attempt, which gets the answers of the first, charges nothing twice', async () => {
    const tally = newTally();
    const below = { ...job('a', { do: 'hold' }, spend(15)), budget: { tokens: 20 } };
    const running = run(
      system,
      job('c', ask({ ...job('retry-b', ask(below), PASS), budget: { tokens: 50 } }), PASS),
      { budget: { tokens: 100 } },
      tally,
    );
    await until('it holds', () => heldBy(tally) === 1);
    await system.terminate('worker-2');
    letGo(tally);
    const [{ jobs: [inner = []] = [] }, left] = (await running) as unknown as [
      { jobs: Report[] },
      Report[number],
    ];
    expect(inner[0]).toEqual({ jobs: [['ok', 'ok']] });
    expect(left).toEqual({ left: { tokens: 85 } });
    expect(tallied(tally).tokens).toBe(15);
  });
});

describe('Threads that are killed again and again (F-04)', () => {
  it('never spend more than there is, and leave nothing open', async () => {
    const BUDGET = 5_000;
    const tally = newTally();
    using account = system.openAccount({ tokens: BUDGET });
    const layers = (depth: number): Job[] =>
      depth === 0
        ? []
        : ['a', 'b', 'c', 'd']
            .filter((_, at) => (at + depth) % 2 === 0)
            .map((name) => ({
              ...job(name, spend(depth), { do: 'ask', jobs: layers(depth - 1), isParallel: true }, spend(1)),
              ...(depth === 2 ? { budget: { tokens: 30 } } : {}),
            }));
    let kills = 0;
    const killing = (async () => {
      for (; kills < 6; kills++) {
        const before = tallied(tally).tokens;
        await until('something was spent', () => tallied(tally).tokens > before + 20);
        await system.terminate(kills % 2 === 0 ? 'worker-1' : 'worker-2');
      }
    })();
    const settle = async (given: Job): Promise<void> => {
      await run(account, given, { whenFull: 'park' }, tally).catch((error: OrreryError) => {
        if (error.code === 'BUDGET_EXCEEDED') return;
        expect(['ACTOR_DIED', 'THREAD_DIED', 'CANCELLED']).toContain(error.code);
      });
    };
    let isOver = false;
    void killing.finally(() => {
      isOver = true;
    });
    while (!isOver) await Promise.all(layers(3).map(settle));
    await killing;
    await until('only the account itself is open', () => open() === 1, 20_000);
    const spent = tallied(tally).tokens;
    expect(spent).toBeLessThanOrEqual(BUDGET);
    const left = account.left.tokens as number;
    // What a kill cut off between two steps counts as spent: one spending, or the rest of one grant.
    expect(BUDGET - spent - left).toBeGreaterThanOrEqual(0);
    expect(BUDGET - spent - left).toBeLessThanOrEqual(kills * 30);
  });
});
