import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { capability, defineAgent, startSystem, type System } from 'orrery';
import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { end } from '../fixtures/agents/ending.ts';
import { linesOf } from '../fixtures/lines-of.ts';
import { agent, until } from '../fixtures/until.ts';

let system: System;
afterEach(() => system.stop());

const define = (id: string, delivery: 'once' | 'retry') =>
  defineAgent({ id, name: id, version: '1.0.0', description: id, tier: 2, delivery });

/** What was handled, in order. */
let log: string[] = [];

/** Tells the listener what it is told, and fails over the first envelope after that. */
const teller = () => {
  let hasFailed = false;
  return define('teller', 'retry').on('notification', ({ payload }, ctx) => {
    log.push(`teller ${payload}`);
    ctx.tell('listener', payload);
    if (hasFailed) return;
    hasFailed = true;
    throw new Error('too late for what it told');
  });
};
const listener = define('listener', 'once').on(
  'notification',
  ({ payload }) => void log.push(`heard ${payload}`),
);

describe('A second attempt (F-01)', () => {
  it('comes before what was sent later, and what it tells again is not handled again', async () => {
    log = [];
    system = await startSystem({ agents: [teller(), listener] });
    for (const payload of ['one', 'two', 'three'])
      expect(system.tell('teller', payload)).toMatchObject({ delivered: true });
    const counts = await until('everything is settled', async () => {
      const now = await system.conservation();
      return now.inFlight === 0 && now.holds && now;
    });
    expect(log.filter((line) => line.startsWith('teller'))).toEqual([
      'teller one',
      'teller one',
      'teller two',
      'teller three',
    ]);
    expect(log.filter((line) => line.startsWith('heard'))).toEqual(['heard one', 'heard two', 'heard three']);
    expect(counts).toMatchObject({ handled: counts.accepted, deadLettered: 0 });
  });

  it('gets the answer of what it has asked before, which is not done beside itself by an agent that does several at once', async () => {
    const dig = capability({ id: 'attempts.dig', description: 'Digs', input: z.string(), output: z.int() });
    const begin = capability({ id: 'attempts.begin', description: 'Asks', input: z.void(), output: z.int() });
    const asked = Promise.withResolvers<void>();
    const failed = Promise.withResolvers<void>();
    const done = Promise.withResolvers<void>();
    let [begun, attempts] = [0, 0];
    const digger = define('digger', 'once').handle(dig, async () => {
      begun += 1;
      asked.resolve();
      await done.promise;
      return begun;
    });
    digger.concurrency = 4;
    const asker = define('asker', 'retry').handle(begin, async (_, ctx) => {
      attempts += 1;
      const answer = ctx.ask({ agent: 'digger', capability: dig }, 'here');
      if (attempts === 2) return answer;
      answer.catch(() => undefined);
      await failed.promise;
      throw new Error('too late for what it asked');
    });
    system = await startSystem({ agents: [asker, digger] });
    const answer = system.ask({ agent: 'asker', capability: begin }, undefined);
    await asked.promise;
    failed.resolve();
    await until('it is asked again', async () => (await system.conservation()).inFlight === 3);
    done.resolve();
    expect(await answer).toBe(1);
    expect({ begun, attempts }).toEqual({ begun: 1, attempts: 2 });
  });
});

describe('An envelope over which a thread dies while none of its code runs (F-01)', () => {
  it.each(['running', 'waiting'] as const)(
    'is tried three times, and then is dead-lettered, whatever the first attempt died of: %s',
    async (first) => {
      const folder = mkdtempSync(join(tmpdir(), 'orrery-ending-'));
      const file = join(folder, 'attempts');
      system = await startSystem({
        agents: [agent('retry-ending')],
        supervision: { backOff: { firstMs: 1, maxMs: 1 } },
      });
      const sent = system.tell({ agent: 'retry-ending', capability: end }, { first, file });
      expect(sent).toMatchObject({ delivered: true });
      const [letter] = await until('it is given up', async () => {
        const letters = await system.deadLetters();
        return letters.length > 0 && letters;
      });
      expect(letter).toMatchObject({ code: 'POISON', recipient: 'retry-ending' });
      expect(linesOf(file)).toHaveLength(3);
      await until('the agent is back', async () => {
        const row = (await system.roster()).find(({ id }) => id === 'retry-ending');
        return row?.status === 'running' && row.restarts === 3;
      });
      rmSync(folder, { recursive: true });
    },
  );
});
