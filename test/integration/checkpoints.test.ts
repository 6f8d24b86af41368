import { type OrreryError, type Progress, startSystem, type System } from 'orrery';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type Ending,
  keep,
  keepJson,
  keepStream,
  newTries,
  passKeeping,
  triesOf,
  watchKeeper,
} from '../fixtures/agents/keeping.ts';
import { agent, until } from '../fixtures/until.ts';

let system: System;

beforeAll(async () => {
  // One after the other: far, retry-far and watcher live in the first worker, near, retry-near in the second.
  system = await startSystem({
    agents: [
      ...['far', 'near'].map((name) => agent('keeper', { instances: [name] })),
      ...['retry-far', 'retry-near'].map((name) => agent('retry-keeper', { instances: [name] })),
      agent('keeper', { instances: ['watcher'] }),
      agent('keeper', { instances: ['here'], isolation: 'inline' as const }),
    ],
    supervision: { intensity: { maxRestarts: 1e9 }, backOff: { firstMs: 1, maxMs: 1 } },
  });
});
afterAll(() => system.stop());

const failure = (work: Promise<unknown>): Promise<OrreryError> =>
  work.then(
    (value) => {
      throw new Error(`It resolved to ${JSON.stringify(value)}`);
    },
    (error: OrreryError) => error,
  );

/** Resolves when the asked agent has kept `count` results. */
function keptBy() {
  const seen: Progress[] = [];
  const onProgress = (progress: Progress) => void seen.push(progress);
  const has = (count: number) =>
    until('it has kept', () => seen.filter(({ partial }) => partial !== undefined).length >= count);
  return { seen, onProgress, has };
}

/** What an agent has kept since its thread began. */
const progressOf = async (name: string) =>
  (await system.recentEvents()).filter(
    ({ type, agentId, reason }) => type === 'progress' && agentId === name && reason === 'a checkpoint',
  );

const ITEMS = [{ done: 1 }, { done: 2, found: ['a'] }];
const LAST = { done: 2, found: ['a'] };

const ENDINGS: readonly (readonly [Ending, string])[] = [
  ['throws', 'HANDLER_FAILED'],
  ['declines', 'REFUSED'],
  ['overspends', 'BUDGET_EXCEEDED'],
  ['hangs', 'DEADLINE_EXCEEDED'],
  ['loops', 'ACTOR_DIED'],
  ['exits', 'ACTOR_DIED'],
];

describe('A checkpoint (F-11)', () => {
  it.each([
    ['across threads', 'far'],
    ['within one thread', 'here'],
  ])('is told to the asker as progress, %s', async (_, name) => {
    const { seen, onProgress } = keptBy();
    const input = {
      items: [...ITEMS.map((item) => ({ ...item })), 7, 'text', null, [1]],
      ending: 'answers' as const,
    };
    const answer = await system.ask({ agent: name, capability: keepJson }, input, { onProgress });
    expect(answer).toEqual({ from: null, kept: 6 });
    expect(seen).toEqual([
      { fraction: 0.25 },
      ...[...ITEMS, 7, 'text', null, [1]].map((partial) => ({ fraction: 0.25, partial })),
    ]);
  });

  it('is progress to whoever watches', async () => {
    await system.ask({ agent: 'far', capability: keepJson }, { items: [1], ending: 'answers' });
    const progress = await progressOf('far');
    expect(progress.at(-1)).toMatchObject({
      fraction: 0.25,
      reason: 'a checkpoint',
      capability: keepJson.id,
    });
  });

  it('keeps what JSON cannot say, where the capability says so', async () => {
    const items = [new Map([['a', new Set([1n])]])];
    const budget = { tokens: 5 };
    const error = await failure(
      system.ask({ agent: 'far', capability: keep }, { items, ending: 'overspends' }, { budget }),
    );
    expect(error.details['partial']).toEqual(items[0]);
  });

  it.each([
    ['a function', () => 1],
    ['a map', new Map()],
    ['nothing', undefined],
  ])('refuses %s, naming it', async (_, item) => {
    const error = await failure(
      system.ask(
        { agent: 'here', capability: { ...keepJson, carries: 'structured' } },
        { items: [item], ending: 'answers' },
      ),
    );
    expect(error.code).toBe(item === undefined ? 'INVALID_OPTIONS' : 'NOT_SERIALISABLE');
    expect(error.message).toContain('partial');
  });
});

describe('The last checkpoint of work that fails (F-11)', () => {
  it.each(ENDINGS)('is in the error of the ask: it %s', async (ending, code) => {
    const options = { timeoutMs: ending === 'hangs' ? 2_000 : 20_000, budget: { tokens: 1_000 } };
    const error = await failure(
      system.ask({ agent: 'far', capability: keepJson }, { items: ITEMS, ending }, options),
    );
    expect(error).toMatchObject({ code, details: { partial: LAST } });
    if (ending === 'declines') expect(error.details['because']).toBe('it may');
  });

  it.each(ENDINGS.slice(0, 2))('is so within one thread, too: it %s', async (ending, code) => {
    const items = ITEMS.map((item) => ({ ...item }));
    const error = await failure(system.ask({ agent: 'here', capability: keepJson }, { items, ending }));
    expect(error).toMatchObject({ code, details: { partial: LAST } });
    expect(error.details['partial']).not.toHaveProperty('isChanged');
  });

  it.each([
    ['throws', 'HANDLER_FAILED'],
    ['hangs', 'DEADLINE_EXCEEDED'],
  ] as const)('reaches an agent that asked in the same thread: it %s', async (ending, code) => {
    const input = { agent: 'retry-far', items: ITEMS, ending };
    const answer = await system.ask({ agent: 'watcher', capability: watchKeeper }, input);
    expect(answer).toEqual({ code: ending === 'throws' ? 'POISON' : code, partial: LAST });
  });

  it('is in the answer of the first attempt, which another attempt of the asker gets', async () => {
    const input = { agent: 'far', items: ITEMS, ending: 'declines' as const, diesOnce: 'asker' };
    const answer = await system.ask({ agent: 'retry-near', capability: watchKeeper }, input);
    expect(answer).toEqual({ code: 'REFUSED', partial: LAST });
  });

  it('is there before the thread can say anything more', async () => {
    // Nobody ends its loop but this test.
    await using patient = await startSystem({
      agents: [agent('keeper', { instances: ['far'] })],
      watchdog: { stallMs: 600_000 },
      supervision: { intensity: { maxRestarts: 1e9 }, backOff: { firstMs: 1, maxMs: 1 } },
    });
    const target = { agent: 'far', capability: keepJson };
    const { onProgress, has } = keptBy();
    const giving = new AbortController();
    // So many are asked that an answer waits for others to be posted with.
    const others = Array.from({ length: 63 }, () => patient.ask(target, { items: [], ending: 'answers' }));
    const limits = { onProgress, signal: giving.signal };
    const looping = failure(patient.ask(target, { items: ITEMS, ending: 'loops' }, limits));
    await has(2);
    giving.abort();
    expect(await looping).toMatchObject({ code: 'CANCELLED', details: { partial: LAST } });
    const [{ place } = { place: '' }] = await patient.roster();
    await patient.terminate(place);
    await Promise.allSettled(others);
    // Whoever comes next finds the thread that replaced it.
    expect(await patient.ask(target, { items: [], ending: 'answers' })).toEqual({ from: null, kept: 0 });
  });

  it('is there when the asker gives up', async () => {
    const { onProgress, has } = keptBy();
    const giving = new AbortController();
    const asked = failure(
      system.ask(
        { agent: 'near', capability: keepJson },
        { items: ITEMS, ending: 'hangs' },
        { onProgress, signal: giving.signal },
      ),
    );
    await has(2);
    giving.abort();
    expect(await asked).toMatchObject({ code: 'CANCELLED', details: { partial: LAST } });
  });

  it('is there when the thread is killed', async () => {
    const { onProgress, has } = keptBy();
    const asked = failure(
      system.ask({ agent: 'near', capability: keepJson }, { items: ITEMS, ending: 'hangs' }, { onProgress }),
    );
    await has(2);
    await system.terminate('worker-2');
    expect(await asked).toMatchObject({ code: 'ACTOR_DIED', details: { partial: LAST } });
  });

  it.each([
    ['throws', 1, 'HANDLER_FAILED'],
    ['exits', 2, 'ACTOR_DIED'],
    ['hangs', 3, 'ACTOR_DIED'],
  ] as const)('is in the dead letter, although nobody waits: it %s', async (ending, run, code) => {
    const isOfRun = ({ partial }: { partial?: unknown }): boolean =>
      (partial as { run?: number } | undefined)?.run === run;
    const input = { items: [{ run: 0 }, { run }], ending };
    const before = (await progressOf('near')).length;
    expect(system.tell({ agent: 'near', capability: keepJson }, input).delivered).toBe(true);
    if (ending === 'hangs') {
      await until('it has kept', async () => (await progressOf('near')).length === before + 2);
      await system.terminate('worker-2');
    }
    const letter = await until('its letter', async () => (await system.deadLetters()).find(isOfRun));
    expect(letter).toMatchObject({ recipient: 'near', code, partial: { run } });
  });

  it('is thrown by a stream that breaks off', async () => {
    const chunks: number[] = [];
    const read = async (): Promise<void> => {
      for await (const chunk of system.stream({ agent: 'far', capability: keepStream }, { item: LAST }))
        chunks.push(chunk);
    };
    expect(await failure(read())).toMatchObject({ code: 'REFUSED', details: { partial: LAST } });
    expect(chunks).toEqual([1, 2]);
  });

  it('is not there when nothing was kept', async () => {
    const error = await failure(
      system.ask({ agent: 'far', capability: keepJson }, { items: [], ending: 'throws' }),
    );
    expect(error.details).not.toHaveProperty('partial');
    const hasKeptNothing = ({ envelope }: { envelope?: { payload: unknown } }): boolean =>
      (envelope?.payload as { items?: unknown[] } | undefined)?.items?.length === 0;
    const letter = await until('its letter', async () => (await system.deadLetters()).find(hasKeptNothing));
    expect(letter).not.toHaveProperty('partial');
  });
});

describe('Another attempt (F-11)', () => {
  it.each(['retry-far', 'retry-near'])('finds what the one before kept: %s', async (name) => {
    const tries = newTries();
    const input = { items: ITEMS, ending: 'throws once' as const, tries };
    expect(await system.ask({ agent: name, capability: keep }, input)).toEqual({ from: LAST, kept: 2 });
    expect(triesOf(tries)).toEqual({ tried: 2, resumed: 1 });
  });

  it('finds it in another thread', async () => {
    const tries = newTries();
    const input = { items: ITEMS, ending: 'hangs once' as const, tries };
    const { onProgress, has } = keptBy();
    const asked = system.ask({ agent: 'retry-near', capability: keep }, input, { onProgress });
    await has(2);
    await system.terminate('worker-2');
    expect(await asked).toEqual({ from: LAST, kept: 2 });
    expect(triesOf(tries)).toEqual({ tried: 2, resumed: 1 });
  });

  it.each([
    ['was told by another thread', 'watcher', 'retry-near', 'worker-2'],
    ['was told by the thread that died with it', 'watcher', 'retry-far', 'worker-1'],
  ])('finds it, although nobody waits: it %s', async (_, teller, name, place) => {
    const tries = newTries();
    const before = (await progressOf(name)).length;
    const told = system.ask({ agent: teller, capability: passKeeping }, { agent: name, items: ITEMS, tries });
    expect(await told).toBe(true);
    await until('it has kept', async () => (await progressOf(name)).length === before + ITEMS.length);
    await system.terminate(place);
    await until('it is tried again', () => triesOf(tries).tried === 2);
    expect(triesOf(tries)).toEqual({ tried: 2, resumed: 1 });
  });

  it('finds nothing of another envelope', async () => {
    const tries = newTries();
    await system.ask(
      { agent: 'retry-far', capability: keep },
      { items: ITEMS, ending: 'throws once', tries },
    );
    const next = system.ask(
      { agent: 'retry-far', capability: keep },
      { items: [], ending: 'answers', tries },
    );
    expect(await next).toEqual({ from: null, kept: 0 });
  });
});
