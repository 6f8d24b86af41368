import * as childProcess from 'node:child_process';
import * as nodeCrypto from 'node:crypto';
import { randomUUID } from 'node:crypto';
import * as fs from 'node:fs';
import { createRequire } from 'node:module';
import { promisify } from 'node:util';
import { capability, defineAgent, type HandlingContext, OrreryError } from 'orrery';
import { type SimulationResult, simulate } from 'orrery/simulate';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';

const { nativeImport } = createRequire(import.meta.url)('../fixtures/native-import.ts') as {
  nativeImport: (url: string) => Promise<unknown>;
};
const read = capability({ id: 'test.read', description: 'Reads', input: z.void(), output: z.unknown() });

type Read = (ctx: HandlingContext) => unknown;

/** Milliseconds that another value makes others. */
const msOf = (value: unknown): number =>
  nodeCrypto.createHash('sha256').update(JSON.stringify(value)).digest().readUInt32LE() / 1e8;

function simulated(run: Read, seed = 1): Promise<SimulationResult> {
  const agent = defineAgent({ id: 'mars', name: 'MARS', version: '1.0.0', description: 'Reads', tier: 2 });
  agent.handle(read, async (_, ctx) => {
    const first = await run(ctx);
    // What it read decides what it does: the trace shows it.
    await ctx.sleep(msOf(first));
    return JSON.stringify([first, await run(ctx)]);
  });
  return simulate({ agents: [agent], seed, run: (team) => team.ask(read, undefined) });
}

const READS: Readonly<Record<string, Read>> = {
  'crypto.randomUUID': () => crypto.randomUUID(),
  'crypto.getRandomValues': () => [...crypto.getRandomValues(new Uint16Array(4))],
  'randomUUID, imported by name': () => randomUUID(),
  'randomUUIDv7 of node:crypto': () =>
    (nodeCrypto as unknown as { randomUUIDv7?: () => string }).randomUUIDv7?.() ?? randomUUID(),
  'randomBytes of node:crypto': () => nodeCrypto.randomBytes(8).toString('hex'),
  'randomBytes with a callback': async () => (await promisify(nodeCrypto.randomBytes)(8)).toString('hex'),
  'randomFillSync of node:crypto': () => [...nodeCrypto.randomFillSync(new Uint8Array(8), 2, 4)],
  'randomFill of node:crypto': () =>
    new Promise((resolve) => nodeCrypto.randomFill(new Uint8Array(8), (_, bytes) => resolve([...bytes]))),
  'randomInt of node:crypto': () => nodeCrypto.randomInt(5, 1_000_000),
  'Math.random': () => Math.random(),
  'Date.now': () => Date.now(),
  'new Date()': () => new Date().toISOString(),
  'Date() as a text, after a virtual while': async (ctx) => {
    await ctx.sleep(1_000 + ctx.random() * 9_000);
    return Date();
  },
  'performance.now': () => performance.now(),
  'process.hrtime': () => process.hrtime(),
  'process.hrtime.bigint': () => String(process.hrtime.bigint()),
  'process.uptime': () => process.uptime(),
  'Date.now after an await': async (ctx) => {
    await null;
    await ctx.sleep(1);
    return Date.now();
  },
};

describe('what the code of an agent reads of time and chance (F-03)', () => {
  it.each(Object.entries(READS))(
    'is the same for the same seed, and another for another: %s',
    async (_, run) => {
      const [one, again, other] = [await simulated(run, 7), await simulated(run, 7), await simulated(run, 8)];
      for (const { error, violations } of [one, again, other])
        expect([error, violations]).toEqual([undefined, []]);
      expect(again.value).toBe(one.value);
      expect(again.traceHash).toBe(one.traceHash);
      expect(other.value).not.toBe(one.value);
      expect(other.traceHash).not.toBe(one.traceHash);
      const [first, second] = JSON.parse(one.value as string) as unknown[];
      expect(second).not.toEqual(first);
    },
  );

  it('is virtual time: what the context says, and what has passed in a sleep', async () => {
    const { value } = await simulated(async (ctx) => {
      const began = [Date.now(), Math.floor(performance.now()), process.hrtime()] as const;
      await ctx.sleep(6_000);
      const [seconds] = process.hrtime(began[2]);
      return [Date.now() - began[0], Math.floor(performance.now()) - began[1], seconds].map((n) =>
        Math.round(n / 10),
      ) as unknown;
    });
    expect((JSON.parse(value as string) as unknown[])[0]).toEqual([600, 600, 1]);
    const { value: isSame } = await simulated((ctx) => Math.abs(ctx.now() - Date.now()) < 2);
    expect(isSame).toBe('[true,true]');
  });

  it('keeps the shape of what is replaced, and its errors', async () => {
    const { value } = await simulated(() => {
      const date = new Date();
      class Day extends Date {}
      const faults = [
        () => crypto.getRandomValues(new Uint8Array(65_537)),
        () => nodeCrypto.randomInt(5, 5),
        () => nodeCrypto.randomBytes(-1),
      ].map((work) => {
        try {
          work();
          return 'nothing';
        } catch (error) {
          return (error as Error).name;
        }
      });
      return [
        date instanceof Date,
        date.constructor === Date,
        new Day() instanceof Day && new Day(5).getTime() === 5,
        new Date(5).getTime() === 5 && Date.UTC(2027, 0) > 0,
        /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(crypto.randomUUID()),
        faults,
      ];
    });
    expect((JSON.parse(value as string) as unknown[])[0]).toEqual([
      ...[true, true, true, true, true],
      ['QuotaExceededError', 'RangeError', 'RangeError'],
    ]);
  });
});

describe('what the code of an agent does without waiting for it to come (F-03)', () => {
  const file = import.meta.filename;
  let folder: string;
  beforeAll(() => {
    folder = fs.mkdtempSync('/tmp/orrery-reads-');
    fs.writeFileSync(`${folder}/new.mjs`, 'export default 1;');
    fs.writeFileSync(`${folder}/new.cjs`, 'module.exports = 1;');
  });
  afterAll(() => fs.rmSync(folder, { recursive: true }));

  const calls: Readonly<Record<string, Read>> = {
    readFileSync: () => fs.readFileSync(file, 'utf8').length,
    existsSync: () => fs.existsSync(file),
    execSync: () => childProcess.execSync('true').length,
    execFileSync: () => childProcess.execFileSync('true').length,
    spawnSync: () => childProcess.spawnSync('true').status,
    ...('Temporal' in globalThis && {
      'Temporal.Now.instant': () =>
        String(
          (globalThis as unknown as { Temporal: { Now: { instant(): unknown } } }).Temporal.Now.instant(),
        ),
    }),
  };

  it.each(Object.entries(calls))('is noted by name, with its agent and line, once: %s', async (name, run) => {
    const { notes, error, value } = await simulated(run);
    expect(error).toBeUndefined();
    expect(value).toBeDefined();
    expect(notes.map((note) => note.replace(/ at \/.*\//, ' at '))).toEqual([
      expect.stringMatching(
        new RegExp(
          `^mars called ${name.replaceAll('.', '\\.')} at simulation-global-reads\\.test\\.ts:\\d+$`,
        ),
      ),
    ]);
  });

  it.each<[string, Read]>([
    ['import', () => nativeImport(`file://${folder}/new.mjs`)],
    ['require', () => createRequire(file)(`${folder}/new.cjs`)],
  ])('ends the simulation where it loads a module: %s', async (_, run) => {
    const error: unknown = await simulated(run).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(OrreryError);
    expect(error).toMatchObject({
      code: 'SIMULATION_ESCAPED',
      details: { agentId: 'mars', resource: 'import' },
    });
    expect((error as Error).message).toContain('it loaded a module that was not loaded before (file:///');
  });

  it('is not noted of who prints, and of what reads nothing', async () => {
    const { notes } = await simulated(() => {
      console.log('');
      return new Error('shown').stack?.length;
    });
    expect(notes).toEqual([]);
  });

  it('may be an import of what is there already', async () => {
    await nativeImport(`file://${folder}/new.mjs`);
    expect((await simulated(() => nativeImport(`file://${folder}/new.mjs`).then(() => 1))).value).toBe(
      '[1,1]',
    );
  });
});

describe('what other code reads while a simulation runs (F-03)', () => {
  it('is real, and all is put back when the last simulation is over', async () => {
    const before = [
      Date,
      Date.now,
      Math.random,
      performance.now,
      process.hrtime,
      crypto.randomUUID,
      fs.readFileSync,
      Date.prototype.constructor,
    ];
    const faults: string[] = [];
    let reads = 0;
    const watch = (): void => {
      reads += 1;
      const offMs = Date.now() - (performance.timeOrigin + performance.now());
      if (Math.abs(offMs) > 60_000 || Math.abs(Date.parse(new Date().toISOString()) - Date.now()) > 60_000)
        faults.push(`${offMs} ms`);
      fs.readFileSync(import.meta.filename);
    };
    const timer = setInterval(watch, 0);
    try {
      const busy: Read = async (ctx) => {
        for (let at = 0; at < 300; at++) await ctx.sleep(5);
        return Date.now();
      };
      const inRun = simulate({ agents: [], run: () => watch() });
      expect(
        (await Promise.all([simulated(busy, 1), simulated(busy, 2), inRun])).map(({ error }) => error),
      ).toEqual([undefined, undefined, undefined]);
    } finally {
      clearInterval(timer);
    }
    expect(faults).toEqual([]);
    expect(reads).toBeGreaterThan(1);
    expect([
      Date,
      Date.now,
      Math.random,
      performance.now,
      process.hrtime,
      crypto.randomUUID,
      fs.readFileSync,
      Date.prototype.constructor,
    ]).toEqual(before);
    expect(nodeCrypto.randomUUID).toBe(randomUUID);
  });
});
