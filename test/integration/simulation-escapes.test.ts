import { execFile } from 'node:child_process';
import { readFile as readFileWithCallback } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { promisify } from 'node:util';
import { Worker } from 'node:worker_threads';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { capability, defineAgent, type HandlingContext, isOrreryError } from 'orrery';
import { simulate } from 'orrery/simulate';

const reach = capability({
  id: 'test.reach',
  description: 'Reaches out',
  input: z.void(),
  output: z.unknown(),
});

type Reach = (ctx: HandlingContext) => unknown;

/** What becomes of a simulation in which an agent's handler does this: the code it fails with, or what was answered. */
async function outcomeOf(run: Reach): Promise<unknown> {
  const agent = defineAgent({ id: 'mars', name: 'MARS', version: '1.0.0', description: 'Reaches', tier: 2 });
  agent.handle(reach, async function reaching(_, ctx) {
    await run(ctx);
    return 'done';
  });
  try {
    const { value } = await simulate({
      agents: [agent],
      run: (team) => team.ask(reach, undefined).catch((error) => error.code),
    });
    return value;
  } catch (error) {
    return error;
  }
}

describe('code that leaves a simulation (F-03)', () => {
  let server: Server;
  let port: number;
  let worker: Worker;

  beforeAll(async () => {
    server = createServer((socket) => socket.destroy());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    port = (server.address() as { port: number }).port;
    const echo =
      "const { parentPort: p } = require('node:worker_threads'); p.on('message', (m) => p.postMessage(m));";
    worker = new Worker(echo, { eval: true });
    await new Promise((resolve) => worker.once('online', resolve));
  });

  afterAll(async () => {
    await worker.terminate();
    await new Promise((resolve) => server.close(resolve));
  });

  const posted = (): Promise<unknown> =>
    new Promise((resolve) => {
      worker.once('message', resolve);
      worker.postMessage('to and fro');
    });

  const escapes: Record<string, Reach> = {
    setTimeout: () => new Promise((resolve) => setTimeout(resolve, 1)),
    setInterval: () =>
      new Promise<void>((resolve) => {
        const timer = setInterval(() => {
          clearInterval(timer);
          resolve();
        }, 1);
      }),
    setImmediate: () => new Promise((resolve) => setImmediate(resolve)),
    'AbortSignal.timeout': () =>
      new Promise((resolve) => AbortSignal.timeout(1).addEventListener('abort', resolve)),
    'a timer after a virtual sleep': async (ctx) => {
      await ctx.sleep(50);
      await new Promise((resolve) => setTimeout(resolve, 1));
    },
    'fs.promises': () => readFile(import.meta.filename),
    'fs with a callback': () => new Promise((resolve) => readFileWithCallback(import.meta.filename, resolve)),
    'a socket': () => new Promise((resolve) => connect(port, '127.0.0.1').on('close', resolve)),
    fetch: () => fetch(`http://127.0.0.1:${port}/`),
    child_process: () => promisify(execFile)(process.execPath, ['--version']),
    'crypto.subtle': () => crypto.subtle.digest('SHA-256', new Uint8Array(3)),
    'a thread that was there before': posted,
    'a thread that was there before, after a virtual sleep': async (ctx) => {
      await ctx.sleep(50);
      return posted();
    },
  };

  for (const [name, run] of Object.entries(escapes)) {
    it(`ends it with SIMULATION_ESCAPED: ${name}`, async () => {
      const error = await outcomeOf(run);
      expect(isOrreryError(error)).toBe(true);
      expect(error).toMatchObject({ code: 'SIMULATION_ESCAPED', details: { agentId: 'mars' } });
    });
  }

  it('says what was done, and where in the agent', async () => {
    const error = await outcomeOf(() => new Promise((resolve) => setTimeout(resolve, 1)));
    expect(error).toMatchObject({ details: { resource: 'Timeout' } });
    expect((error as Error).message).toMatch(
      /^mars left the simulation: it set a timer \(.*\) at \/.*simulation-escapes\.test\.ts:\d+\. What it waits for/,
    );
    const { where } = (error as { details: { where: string } }).details;
    expect(where.split('\n')[0]).toContain('simulation-escapes.test.ts');
    expect(where).toContain('reaching');
  });

  it.each([
    ['fs.promises', 'it read or wrote a file or folder at /'],
    ['a socket', 'it opened or used a socket at /'],
    ['child_process', 'it started a process at /'],
    ['setImmediate', 'it called setImmediate at /'],
    ['a thread that was there before', 'something outside woke it, as a thread or a socket'],
  ])('says in plain words what it was: %s', async (name, says) => {
    const { message } = (await outcomeOf(escapes[name] as Reach)) as Error;
    expect(message).toContain(`mars left the simulation: ${says}`);
    expect(message).not.toMatch(/[A-Z]{6,}/);
  });

  const stays: Record<string, Reach> = {
    'awaits promises': async () => {
      for (let turn = 0; turn < 100; turn++) await null;
    },
    'uses nextTick and microtasks': () =>
      new Promise<void>((resolve) => process.nextTick(() => queueMicrotask(resolve))),
    'sleeps in virtual time': (ctx) => ctx.sleep(5_000),
    'sets a timer and clears it again': () => clearTimeout(setTimeout(() => undefined, 1)),
    prints: () => process.stdout.write(''),
    'hashes and makes keys at once': async () => {
      const { createHash, generateKeyPairSync } = process.getBuiltinModule('node:crypto');
      generateKeyPairSync('ed25519');
      return createHash('sha256').update('x').digest('hex');
    },
  };

  for (const [name, run] of Object.entries(stays)) {
    it(`lets go on what ${name}`, async () => {
      expect(await outcomeOf(run)).toBe('done');
    });
  }

  it('is not what waits for ever: that ends at its deadline, in virtual time', async () => {
    expect(await outcomeOf(() => new Promise(() => undefined))).toBe('DEADLINE_EXCEEDED');
  });

  it('is not what others in the process do meanwhile', async () => {
    let turns = 0;
    const timer = setInterval(() => {
      turns += 1;
      void readFile(import.meta.filename);
    }, 0);
    try {
      expect(
        await outcomeOf(async (ctx) => {
          for (let second = 0; second < 300; second++) await ctx.sleep(90);
        }),
      ).toBe('done');
    } finally {
      clearInterval(timer);
    }
    expect(turns).toBeGreaterThan(0);
  });
});
