import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type AgentSpec, defineAgent, type StartOptions, startSystem, type System } from 'orrery';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { double } from '../fixtures/agents/answers.ts';
import { add, die, pass, work } from '../fixtures/agents/living.ts';
import { agent, rejection, until } from '../fixtures/until.ts';
import { CONDITIONS } from '../fixtures/conditions.ts';

let folder: string;
let chronicle: string;
let running: System[] = [];

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'orrery-'));
  chronicle = join(folder, 'chronicle');
  process.env['ORRERY_CHRONICLE'] = chronicle;
});
afterAll(() => {
  delete process.env['ORRERY_CHRONICLE'];
  rmSync(folder, { recursive: true });
});
beforeEach(() => writeFileSync(chronicle, ''));
afterEach(async () => {
  await Promise.all(running.map((system) => system.stop({ drainMs: 0 })));
  running = [];
});

async function start(agents: readonly AgentSpec[], options: StartOptions = {}): Promise<System> {
  const system = await startSystem({ agents, ...options });
  running.push(system);
  return system;
}

const chronicled = (): string[] =>
  readFileSync(chronicle, 'utf8')
    .split('\n')
    .filter((line) => line !== '');

const to = (name: string) => ({ agent: name, capability: add });

const rowOf = async (system: System, name: string) => (await system.roster()).find(({ id }) => id === name);

describe('The state of an agent', () => {
  it('is made by onStart, before the first envelope', async () => {
    const system = await start([agent('living')]);
    expect(chronicled()).toEqual(['living starts']);
    expect(await system.ask(add, 2)).toMatchObject({ count: 2, life: 1 });
    expect(await system.ask(add, 3)).toMatchObject({ count: 5, life: 1 });
  });

  it('is new after a restart, and onStop saw the old one', async () => {
    const system = await start([agent('living')]);
    await system.ask(add, 7);
    expect((await rejection(system.ask(die, undefined))).code).toBe('HANDLER_FAILED');
    expect(await system.ask(add, 1)).toMatchObject({ count: 1, life: 2 });
    expect(chronicled()).toEqual(['living starts', 'living stops at 7', 'living starts']);
    const row = await until('the restart is known', async () => {
      const now = await rowOf(system, 'living');
      return now?.status === 'running' && now;
    });
    expect(row).toMatchObject({ restarts: 1, lastError: 'it dies' });
  });

  it('is each instance its own; the instances live in one thread', async () => {
    const system = await start([agent('living', { instances: ['x', 'y'] })]);
    expect(await system.ask(to('x'), 1)).toMatchObject({ self: 'x', count: 1, thread: 'worker-1' });
    expect(await system.ask(to('y'), 5)).toMatchObject({ self: 'y', count: 5, thread: 'worker-1' });
    expect(await system.ask(to('x'), 1)).toMatchObject({ self: 'x', count: 2 });
    expect((await system.roster()).map(({ id, name }) => [id, name])).toEqual([
      ['x', 'LIVING'],
      ['y', 'LIVING'],
    ]);
  });

  it('is given to onStop when the system stops', async () => {
    const system = await start([agent('living'), agent('living', { instances: ['other'] })]);
    await system.ask(to('living'), 3);
    await system.stop();
    expect(chronicled().slice(2).sort()).toEqual(['living stops at 3', 'other stops at 0']);
  });

  it('may be a live object: such an agent runs in the thread that starts the system', async () => {
    const seen: string[] = [];
    const live = defineAgent({ id: 'live', name: 'LIVE', version: '1.0.0', description: 'Live', tier: 2 })
      .onStart(() => seen)
      .onStop((ctx) => ctx.state.push('stopped'))
      .handle(double, ({ n }, ctx) => {
        ctx.state.push(`doubles ${n}`);
        return 2 * n;
      });
    const system = await start([live, agent('living')]);
    expect(await system.ask(double, { n: 4 })).toBe(8);
    expect(await rowOf(system, 'live')).toMatchObject({ place: 'host', capabilities: ['sums.double'] });
    await system.stop();
    expect(seen).toEqual(['doubles 4', 'stopped']);
  });

  it('of a module may be kept inline too', async () => {
    const system = await start([agent('living', { isolation: 'inline' as const })]);
    expect(await rowOf(system, 'living')).toMatchObject({ place: 'host' });
    expect(await system.ask(add, 1)).toMatchObject({ count: 1 });
  });
});

describe('A lazy agent', () => {
  it('is started by its first envelope, and that is handled', async () => {
    const system = await start([agent('living', { lazy: true })]);
    expect(chronicled()).toEqual([]);
    expect(await system.ask(add, 2)).toMatchObject({ count: 2, life: 1 });
    expect(chronicled()).toEqual(['living starts']);
  });

  it('that never got one is not stopped either', async () => {
    const system = await start([agent('living', { lazy: true })]);
    await system.stop();
    expect(chronicled()).toEqual([]);
  });
});

describe('An agent that ended', () => {
  it('for good tells so at once to whoever asks, and can be started by hand', async () => {
    const system = await start([agent('temporary')]);
    expect((await rejection(system.ask(die, undefined))).code).toBe('HANDLER_FAILED');
    await until('it is stopped', async () => (await rowOf(system, 'temporary'))?.status === 'stopped');
    const { code, message } = await rejection(system.ask(add, 1, { timeoutMs: 5_000 }));
    expect(code).toBe('NOT_HERE');
    expect(message).toContain('temporary');
    await system.restart('temporary');
    expect(await system.ask(add, 1)).toMatchObject({ count: 1 });
  });

  it('by stopAgent is stopped, and what waits is dead-lettered with NOT_HERE', async () => {
    const system = await start([agent('living')]);
    await system.ask(add, 4);
    await system.stopAgent('living');
    expect(chronicled()).toEqual(['living starts', 'living stops at 4']);
    expect(system.tell(add, 1)).toMatchObject({ delivered: true });
    const [letter] = await until('the dead letter', async () => {
      const letters = await system.deadLetters();
      return letters.length > 0 && letters;
    });
    expect(letter).toMatchObject({ recipient: 'living', code: 'NOT_HERE', sender: 'system/host' });
    await system.restart('living');
    expect(await system.ask(add, 1)).toMatchObject({ count: 1, life: 2 });
  });

  it('by stopAgent twice at once is stopped, and both are told', async () => {
    const system = await start([agent('living')]);
    await Promise.all([system.stopAgent('living'), system.stopAgent('living')]);
    expect((await system.roster()).map(({ status }) => status)).toEqual(['stopped']);
  });

  it('that nobody knows cannot be stopped or restarted: AGENT_NOT_FOUND', async () => {
    const system = await start([]);
    expect((await rejection(system.stopAgent('nobody'))).code).toBe('AGENT_NOT_FOUND');
    expect((await rejection(system.restart('nobody'))).code).toBe('AGENT_NOT_FOUND');
  });
});

describe('A system that cannot start', () => {
  const broken = (name: string) => agent(`broken/${name}`);
  const threads = (): string[] =>
    process.getActiveResourcesInfo().filter((kind) => /Worker|MessagePort/.test(kind));

  it.each([
    ['does not exist', broken('missing'), /broken\/missing\.agent\.ts.*there is no such file$/],
    ['throws at import', broken('throws'), /broken\/throws\.agent\.ts.*the module is broken/],
    ['exports no agent', broken('empty'), /broken\/empty\.agent\.ts.*exports no agent/],
    ['exports two', broken('two'), /broken\/two\.agent\.ts.*more than one agent/],
  ])('because a module %s says MODULE_INVALID, names it, and leaves nothing', async (_, spec, says) => {
    const before = threads();
    const { code, message } = await rejection(startSystem({ agents: [agent('living'), spec] }));
    expect(code).toBe('MODULE_INVALID');
    expect(message).toMatch(says);
    await until('every thread is gone', () => threads().length <= before.length);
    expect(chronicled()).toEqual([]);
  });

  it('because two agents have one id says INVALID_OPTIONS, names it, and leaves nothing', async () => {
    const before = threads();
    const { code, message } = await rejection(startSystem({ agents: [agent('living'), agent('living')] }));
    expect(code).toBe('INVALID_OPTIONS');
    expect(message).toContain('"living"');
    await until('every thread is gone', () => threads().length <= before.length);
    expect(chronicled()).toEqual([]);
  });

  it.each([
    ['workers', { workers: 0 }, /options\.workers is 0, expected/],
    ['workers', { workers: 1.5 }, /options\.workers is 1\.5, expected/],
    [
      'an unknown option',
      { worker: 2 } as StartOptions,
      /options\.worker is 2, expected no option of this name/,
    ],
    ['an agent', { agents: [42 as never] }, /agents.0\]? is 42, expected/],
    [
      'a module',
      { agents: [{ module: './mars.ts' as never }] },
      /agents.0\]?\.module is "\.\/mars\.ts", expected/,
    ],
    [
      'an isolation',
      { agents: [agent('living', { isolation: 'fiber' as never })] },
      /isolation is "fiber", expected/,
    ],
    [
      'an unknown field',
      { agents: [agent('living', { lasy: true })] },
      /lasy is true, expected no option of this name/,
    ],
    ['instances', { agents: [agent('living', { instances: [] })] }, /instances is \[\], expected/],
    [
      'an intensity',
      { supervision: { intensity: { maxRestarts: -1 } } },
      /supervision\.intensity\.maxRestarts is -1, expected/,
    ],
    ['a watchdog', { watchdog: { stallMs: 'soon' as never } }, /watchdog\.stallMs is "soon", expected/],
    ['policies', { policies: { maxHops: -4 } }, /policies\.maxHops is -4, expected/],
    [
      'a policy module',
      { policies: { custom: [{ module: './mine.ts' }] } },
      /policies\.custom.*"\.\/mine\.ts", expected/,
    ],
  ] as [string, StartOptions, RegExp][])(
    'because of %s says INVALID_OPTIONS, naming field and value',
    async (_, options, says) => {
      const { code, message } = await rejection(startSystem(options));
      expect(code).toBe('INVALID_OPTIONS');
      expect(message).toMatch(says);
    },
  );
});

describe('Two systems in one process (F-12)', () => {
  it('know nothing of each other, and one stays when the other stops', async () => {
    const [one, other] = await Promise.all([start([agent('living')]), start([agent('living')])]);
    expect(await one.ask(add, 5)).toMatchObject({ count: 5 });
    expect(await other.ask(add, 1)).toMatchObject({ count: 1 });
    await one.stop();
    expect(await other.ask(add, 1)).toMatchObject({ count: 2 });
    expect((await rejection(one.ask(add, 1))).code).toBe('SYSTEM_STOPPED');
  });
});

describe('Stopping a system (F-12)', () => {
  it('twice, or while it stops, is one stop', async () => {
    const system = await start([agent('living')]);
    const first = system.stop();
    expect(system.stop()).toBe(first);
    await first;
    await system.stop();
    expect(chronicled()).toEqual(['living starts', 'living stops at 0']);
  });

  it('answers what is in flight as long as it drains', async () => {
    const system = await start([agent('living'), agent('living', { instances: ['other'] })]);
    const working = system.ask({ agent: 'living', capability: work }, { other: 'other', times: 50 });
    const asks = Array.from({ length: 200 }, () => system.ask(to('other'), 1));
    await system.stop({ drainMs: 100_000 });
    await expect(working).resolves.toBeGreaterThan(0);
    expect(await Promise.all(asks)).toHaveLength(200);
  });

  it('handles what was told before', async () => {
    const system = await start([agent('living'), agent('living', { instances: ['other'] })]);
    for (let n = 0; n < 1_000; n++)
      expect(system.tell(to(n % 2 === 0 ? 'living' : 'other'), 1).delivered).toBe(true);
    await system.stop();
    expect(chronicled().slice(2).sort()).toEqual(['living stops at 500', 'other stops at 500']);
  });

  it('handles what that causes, to and fro between threads', async () => {
    const system = await start([agent('living'), agent('living', { instances: ['other'] })]);
    system.tell({ agent: 'living', capability: pass }, { to: 'other', left: 2_000 });
    await system.stop({ drainMs: 100_000 });
    expect(chronicled().slice(2).sort()).toEqual(['living stops at 1000', 'other stops at 1000']);
  });

  it('ends with SYSTEM_STOPPED what is not done in time', async () => {
    const system = await start([agent('living'), agent('living', { instances: ['other'] })]);
    const working = rejection(
      system.ask({ agent: 'living', capability: work }, { other: 'other', times: 100_000 }),
    );
    const startedMs = performance.now();
    await system.stop({ drainMs: 50 });
    expect(performance.now() - startedMs).toBeLessThan(5_000);
    expect(['SYSTEM_STOPPED', 'NOT_HERE', 'CANCELLED']).toContain((await working).code);
  });

  it.each(['stop', 'using', 'busy'])('leaves nothing that keeps the process: %s', async (how) => {
    const script = fileURLToPath(new URL('../fixtures/lives-and-exits.ts', import.meta.url));
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [...CONDITIONS, script, how], {
      timeout: 100_000,
    });
    expect(JSON.parse(stdout)).toEqual({ count: 1, left: [] });
    expect(stderr).toBe('');
  });
});

describe('An embedder that blocks (F-12)', () => {
  it('is given the answers that came in time, though it looks at them later', async () => {
    const system = await start([agent('living')]);
    const asks = Array.from({ length: 100 }, () => system.ask(add, 1, { timeoutMs: 2_000 }));
    // What was asked is posted when the event loop turns.
    await new Promise((resolve) => setImmediate(resolve));
    spawnSync('sleep', ['2.2']);
    expect((await Promise.all(asks)).map(({ count }) => count)).toEqual(
      Array.from({ length: 100 }, (_, at) => at + 1),
    );
  });

  it('keeps nobody from working: agents ask each other while its thread sits in spawnSync', async () => {
    const system = await start([agent('living'), agent('living', { instances: ['other'] })]);
    const enough = new AbortController();
    const working = system.ask(
      { agent: 'living', capability: work },
      { other: 'other', times: 1_000_000 },
      { signal: enough.signal, timeoutMs: 600_000 },
    );
    await until('it works', async () => (await system.ask(to('other'), 0)).count > 2);
    const untilItWorks = `echo blocked >> "$0"
      until [ "$(sed '1,/blocked/d' "$0" | grep -c works)" -ge 20 ]; do sleep 0.02; done`;
    const blocked = spawnSync('sh', ['-c', untilItWorks, chronicle], { timeout: 90_000 });
    expect(blocked.status).toBe(0);
    enough.abort();
    expect((await rejection(working)).code).toBe('CANCELLED');
    expect(await system.ask(to('other'), 0)).toMatchObject({ life: 1 });
    expect((await system.roster()).map(({ restarts }) => restarts)).toEqual([0, 0]);
  }, 120_000);
});
