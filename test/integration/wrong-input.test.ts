import { capability, defineAgent, type HandlingContext, refused, startSystem, type System } from 'orrery';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { double } from '../fixtures/agents/answers.ts';
import { agent, rejection, until } from '../fixtures/until.ts';

const attempt = capability({
  id: 'wrong.attempt',
  description: 'Does something wrong, by number, and says what it is told',
  input: z.number(),
  output: z.string(),
});
const decline = capability({
  id: 'wrong.decline',
  description: 'Declines with details that no port carries',
  input: z.enum(['circle', 'bigint', 'function']),
  output: z.string(),
});

const circle: Record<string, unknown> = { kept: 1 };
circle['self'] = circle;
const DETAILS = { circle, bigint: { kept: 1, big: 10n }, function: { kept: 1, run: () => 1 } };

type Wrong = (ctx: HandlingContext<never>) => unknown;

/** What an agent does wrong, and what it is told. */
const WRONGS: [string, Wrong, string][] = [
  ['ask of a text', (ctx) => ctx.ask('all' as never, 1), 'target is "all"'],
  ['ask of null', (ctx) => ctx.ask(null as never, 1), 'target is null'],
  ['ask of what is no capability', (ctx) => ctx.ask({} as never, 1), 'target is {}'],
  ['ask for nothing', (ctx) => ctx.ask({ agent: 'own' } as never, 1), 'target.capability is undefined'],
  ['ask of no id', (ctx) => ctx.ask({ agent: 5, capability: double } as never, 1), 'target.agent is 5'],
  ['tell undefined', async (ctx) => ctx.tell(undefined as never, 1), 'target is undefined'],
  ['ask with null', (ctx) => ctx.ask(double, { n: 1 }, null as never), 'options is null'],
  ['tell with null', async (ctx) => ctx.tell('own', 1, null as never), 'options is null'],
  ['a signal', (ctx) => ctx.ask(double, { n: 1 }, { signal: 5 as never }), 'signal is 5'],
  ['whenFull', (ctx) => ctx.ask(double, { n: 1 }, { whenFull: 'x' as never }), 'whenFull is "x"'],
  ['onProgress', (ctx) => ctx.ask(double, { n: 1 }, { onProgress: 1 as never }), 'onProgress is 1'],
  ['delivery', async (ctx) => ctx.tell('own', 1, { delivery: 'x' as never }), 'delivery is "x"'],
  ['correlationId', async (ctx) => ctx.tell('own', 1, { correlationId: 5 as never }), 'correlationId is 5'],
  ['inReplyTo', async (ctx) => ctx.tell('own', 1, { inReplyTo: 5 as never }), 'inReplyTo is 5'],
  ['justification', async (ctx) => ctx.tell('own', 1, { justification: 5 as never }), 'justification is 5'],
  ['offload of a text', (ctx) => ctx.offload('./x.mjs' as never, 1), 'module is "./x.mjs"'],
  ['an effect', (ctx) => ctx.effect('mail', 5 as never), 'run is 5'],
  ['sleep', (ctx) => ctx.sleep(Number.NaN), 'ms is NaN'],
  ['progress of NaN', async (ctx) => ctx.progress(Number.NaN), 'fraction is NaN'],
  ['progress with a number', async (ctx) => ctx.progress(0.5, 5 as never), 'note is 5'],
];

const own = defineAgent({ id: 'own', name: 'OWN', version: '1.0.0', description: 'Does wrong', tier: 2 })
  .handle(double, ({ n }) => 2 * n)
  .handle(decline, (how) => {
    throw refused('not today', DETAILS[how]);
  })
  .handle(attempt, async (at, ctx) => {
    const [, wrong] = WRONGS[at] as (typeof WRONGS)[number];
    try {
      await wrong(ctx as never);
      return 'nothing';
    } catch (error) {
      const { code, message } = error as { code?: string; message: string };
      return `${code}: ${message}`;
    }
  });

let system: System;
beforeAll(async () => {
  system = await startSystem({ agents: [own], workers: 1 });
});
afterAll(() => system.stop());

const ask = (options: unknown) => system.ask(double, { n: 1 }, options as never);
const tell = (options: unknown) => async () => system.tell('own', 1, options as never);

describe('The embedder is told INVALID_OPTIONS with field and value', () => {
  it.each<[string, () => Promise<unknown>, string]>([
    ['ask of a text', () => system.ask('all' as never, 1), 'target is "all"'],
    ['ask of null', () => system.ask(null as never, 1), 'target is null'],
    ['ask of an object', () => system.ask({} as never, 1), 'target is {}'],
    ['ask for nothing', () => system.ask({ agent: 'own' } as never, 1), 'target.capability is undefined'],
    ['ask of no id', () => system.ask({ agent: '', capability: double }, { n: 1 }), 'target.agent is ""'],
    ['tell undefined', async () => system.tell(undefined as never, 1), 'target is undefined'],
    ['tell an empty id', async () => system.tell('', 1), 'target is ""'],
    ['tellWhenRoom', () => system.tellWhenRoom(7 as never, 1), 'target is 7'],
    ['stream', async () => system.stream('all' as never, 1), 'target is "all"'],
    ['ask with null', () => ask(null), 'options is null'],
    ['ask with a list', () => ask([]), 'options is []'],
    ['a signal', () => ask({ signal: 5 }), 'signal is 5'],
    ['an unknown option', () => ask({ timeout: 5 }), 'timeout is 5'],
    ['whenFull', () => ask({ whenFull: 'x' }), 'whenFull is "x"'],
    ['delivery', () => ask({ delivery: 'x' }), 'delivery is "x"'],
    ['correlationId', () => ask({ correlationId: 5 }), 'correlationId is 5'],
    ['onProgress', () => ask({ onProgress: 5 }), 'onProgress is 5'],
    ['tell with null', tell(null), 'options is null'],
    ['an option of asks', tell({ timeoutMs: 5 }), 'timeoutMs is 5'],
    ['inReplyTo', tell({ inReplyTo: 5 }), 'inReplyTo is 5'],
    ['start of nothing', () => system.start(undefined as never), 'agents is undefined'],
    ['start of a number', () => system.start([5 as never]), 'agents.0 is 5'],
    ['instances', () => system.start([agent('living', { instances: ['a b'] })]), 'instances[0] is "a b"'],
    [
      'a reserved instance',
      () => system.start([agent('living', { instances: ['*'] })]),
      'instances[0] is "*"',
    ],
    ['inspect', () => system.inspect('x' as never), 'listener is "x"'],
    ['recentEvents', () => system.recentEvents(-1), 'limit is -1'],
    ['recentEvents of a text', () => system.recentEvents('5' as never), 'limit is "5"'],
    ['stop', () => system.stop({ drainMs: 'x' as never }), 'stop.drainMs is "x"'],
    ['stop with null', () => system.stop(null as never), 'stop is null'],
    ['stopAgent', () => system.stopAgent(5 as never), 'agentId is 5'],
    ['restart', () => system.restart(undefined as never), 'agentId is undefined'],
    ['terminate', () => system.terminate(undefined as never), 'place is undefined'],
    ['thread', () => system.thread(undefined as never), 'correlationId is undefined'],
    ['onReceive', () => system.onReceive('own', 5 as never), 'handler is 5'],
    ['configure', () => system.configure(5 as never), 'config is 5'],
    ['startSystem(null)', () => startSystem(null as never), 'options is null'],
    ['startSystem(5)', () => startSystem(5 as never), 'options is 5'],
    ['startSystem([])', () => startSystem([] as never), 'options is []'],
    ['supervision', () => startSystem({ supervision: null as never }), 'supervision is null'],
    ['starting', () => startSystem({ starting: { quietMs: 0 } }), 'starting.quietMs is 0'],
  ])('%s', async (_, run, says) => {
    const { code, message } = await rejection((async () => run())());
    expect(code).toBe('INVALID_OPTIONS');
    expect(message).toContain(`${says}, expected `);
  });

  it('and the system goes on', async () => {
    expect(await ask({ timeoutMs: 5_000, whenFull: 'park', delivery: 'once' })).toBe(2);
    expect(await system.recentEvents(0)).toEqual([]);
  });
});

describe('An agent is told INVALID_OPTIONS with field and value', () => {
  it.each(WRONGS.map(([title, , says], at) => [title, at, says] as const))('%s', async (_, at, says) => {
    const told = await system.ask(attempt, at);
    expect(told).toContain(`INVALID_OPTIONS: ${says}, expected `);
  });
});

describe('A refusal whose details no port carries', () => {
  it.each([
    ['circle', 'self', 'self.self holds a circular reference'],
    ['bigint', 'big', 'big holds a bigint'],
    ['function', 'run', 'run holds a function'],
  ] as const)(
    'arrives with code and message, and says what the details were: %s',
    async (how, field, says) => {
      await expect(system.ask(decline, how)).rejects.toMatchObject({
        code: 'REFUSED',
        message: 'not today',
        details: { kept: 1, [field]: says },
      });
    },
  );
});

describe('An agent module', () => {
  it.each([
    ['defines an agent that is none', 'tier', {}, /agent\.tier is 9, expected/],
    ['exits while it is imported', 'exits', {}, /its thread ended while it was imported/],
    [
      'loops while it is imported',
      'loops',
      { computeMs: 1_000 },
      /did not end: it computed for 1 s without a pause: it loops/,
    ],
    [
      'waits while it is imported',
      'waits',
      { quietMs: 2_000 },
      /did not end: for 2 s it said nothing and used .*: it waits/,
    ],
  ])('that %s is named, and why it cannot be used is said', async (_, name, starting, says) => {
    const { code, message } = await rejection(startSystem({ agents: [agent(`broken/${name}`)], starting }));
    expect(code).toBe('MODULE_INVALID');
    expect(message).toMatch(new RegExp(`broken/${name}\\.agent\\.ts`));
    expect(message).toMatch(says);
    expect(message).not.toContain('worker-1');
  });
});

describe('A listener that fails', () => {
  it.each([
    [
      'throws',
      () => {
        throw new Error('of the inspector');
      },
    ],
    ['rejects', async () => Promise.reject(new Error('of the inspector'))],
  ])('is a warning, and ends nothing: it %s', async (_, listener) => {
    const warnings: Error[] = [];
    const hear = (warning: Error): void => void warnings.push(warning);
    process.on('warning', hear);
    try {
      const leave = await system.inspect(listener);
      expect(await ask({})).toBe(2);
      expect((await rejection(system.ask(decline, 'bigint'))).code).toBe('REFUSED');
      await until('the warning', () => warnings.some(({ message }) => message.includes('of the inspector')));
      await leave();
      expect(await ask({})).toBe(2);
    } finally {
      process.off('warning', hear);
    }
  });
});
