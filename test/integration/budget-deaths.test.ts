import type { OrreryError } from 'orrery';
import { describe, expect, it } from 'vitest';
import {
  heldBy,
  type Job,
  letGo,
  newTally,
  type Report,
  type Step,
  tallied,
} from '../fixtures/agents/spending.ts';
import { ask, job, PASS, run, spend, spendingTeam, tell } from '../fixtures/spending-team.ts';
import { rejection, until } from '../fixtures/until.ts';

const team = spendingTeam();

describe('The death of an actor (F-04)', () => {
  it('leaves what it had spent spent, and gives back the rest', async () => {
    const dying = { ...job('b', spend(7), { do: 'die' }), budget: { tokens: 50 } };
    const report = await run(team.system, job('a', ask(dying), PASS), { budget: { tokens: 100 } });
    expect(report).toEqual([{ jobs: [['HANDLER_FAILED']] }, { left: { tokens: 93 } }]);
  });

  it('before another attempt leaves what the first one spent spent', async () => {
    const again = { ...job('retry-b', spend(7), PASS, { do: 'die once' }), budget: { tokens: 50 } };
    const report = await run(team.system, job('a', ask(again), PASS), { budget: { tokens: 100 } });
    expect(report).toEqual([{ jobs: [['ok', { left: { tokens: 36 } }, 'ok']] }, { left: { tokens: 86 } }]);
  });

  it('leaves what it had granted to those whose answers the other attempt gets', async () => {
    const tally = newTally();
    const below = { ...job('a', { do: 'hold' }, spend(7), PASS), budget: { tokens: 20 } };
    const dying: Step = { do: 'ask', jobs: [below], isParallel: true, diesOnce: true };
    const running = run(team.system, job('retry-b', dying, PASS), { budget: { tokens: 50 } }, tally);
    await until('it holds', () => heldBy(tally) === 1);
    letGo(tally);
    expect(await running).toEqual([
      { jobs: [['ok', 'ok', { left: { tokens: 13 } }]] },
      { left: { tokens: 43 } },
    ]);
  });

  it('by its deadline leaves nothing behind', async () => {
    const late = { ...job('b', spend(7), { do: 'hang' }), budget: { tokens: 50 }, timeoutMs: 50 };
    const report = await run(team.system, job('a', ask(late)), { budget: { tokens: 100 } });
    expect(report).toEqual([{ jobs: [['DEADLINE_EXCEEDED']] }]);
  });
});

describe('The death of a thread (F-04)', () => {
  it('gives back what its agents had not spent of what they were granted', async () => {
    const tally = newTally();
    const killed = { ...job('b', spend(7), { do: 'hold' }), budget: { tokens: 50 } };
    const running = run(team.system, job('a', ask(killed), PASS), { budget: { tokens: 100 } }, tally);
    await until('it holds', () => heldBy(tally) === 1);
    await team.system.terminate('worker-2');
    expect(await running).toEqual([{ jobs: [['ACTOR_DIED']] }, { left: { tokens: 93 } }]);
  });

  it('closes what its agents had granted to each other, of which nothing but a name is left', async () => {
    const tally = newTally();
    using account = team.system.openAccount({ tokens: 100 });
    // d and what it is told live in the thread that dies.
    const told = { ...job('d', spend(1)), budget: { tokens: 20 } };
    const holding = { ...job('d', { do: 'hold' }), budget: { tokens: 5 } };
    const telling = job('b', spend(7), tell(holding), tell(told), tell(told), { do: 'hold' });
    const running = run(account, telling, { budget: { tokens: 60 } }, tally);
    running.catch(() => undefined);
    await until('both hold', () => heldBy(tally) === 2);
    expect(account.left).toEqual({ tokens: 40 });
    await team.system.terminate('worker-2');
    expect((await rejection(running)).code).toBe('ACTOR_DIED');
    await until('all of the rest is back', () => account.left.tokens === 93);
  });

  it('takes nothing from what it had told to others before', async () => {
    const tally = newTally();
    using account = team.system.openAccount({ tokens: 100 });
    const going = { ...job('a', { do: 'hold' }, spend(15), PASS), budget: { tokens: 20 } };
    const running = run(account, job('b', tell(going), { do: 'hold' }), { budget: { tokens: 60 } }, tally);
    // What d is told is lost with its thread: when that is found, all that the thread had opened was looked for.
    using lost = team.system.openAccount({ tokens: 5 });
    const losing = run(
      lost,
      job('d', tell({ ...job('d'), budget: { tokens: 5 } }), { do: 'hold' }),
      {},
      tally,
    );
    const ends = Promise.all([rejection(running), rejection(losing)]);
    await until('three hold', () => heldBy(tally) === 3);
    await team.system.terminate('worker-2');
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
      team.system,
      job('c', ask({ ...job('retry-b', ask(below), PASS), budget: { tokens: 50 } }), PASS),
      { budget: { tokens: 100 } },
      tally,
    );
    await until('it holds', () => heldBy(tally) === 1);
    await team.system.terminate('worker-2');
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
    using account = team.system.openAccount({ tokens: BUDGET });
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
        await team.system.terminate(kills % 2 === 0 ? 'worker-1' : 'worker-2');
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
    await until('only the account itself is open', () => team.open() === 1);
    const spent = tallied(tally).tokens;
    expect(spent).toBeLessThanOrEqual(BUDGET);
    const left = account.left.tokens as number;
    // What a kill cut off between two steps counts as spent: one spending, or the rest of one grant.
    expect(BUDGET - spent - left).toBeGreaterThanOrEqual(0);
    expect(BUDGET - spent - left).toBeLessThanOrEqual(kills * 30);
  });
});
