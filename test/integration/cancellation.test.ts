import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startSystem, type System } from 'orrery';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Branch, grow } from '../fixtures/agents/branches.ts';
import { agent, rejection, until } from '../fixtures/until.ts';

let system: System;
let folder: string;
/** What the agents said of their work, as `agent: what note`. */
let said: string[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'orrery-'));
  // a, c and e live in the first worker, b and d in the second, and so does the one that retries.
  system = await startSystem({
    agents: [
      ...['a', 'b', 'c', 'd', 'e'].map((name) => agent('branching', { instances: [name] })),
      agent('retry-branching'),
    ],
    supervision: { intensity: { maxRestarts: 100 }, backOff: { firstMs: 1, maxMs: 1 } },
  });
  await system.inspect(({ type, agentId, reason }) => {
    if (type === 'progress') said.push(`${agentId}: ${reason}`);
  });
});
afterAll(async () => {
  await system.stop();
  rmSync(folder, { recursive: true });
});
beforeEach(() => {
  said = [];
});

const hears = (...lines: string[]) =>
  until(lines.join(', '), () => lines.every((line) => said.includes(line)));

/** Asks the branch's agent; `cancel` gives the ask up. */
function start(branch: Branch, timeoutMs = 20_000): { asked: Promise<number[]>; cancel: () => void } {
  const controller = new AbortController();
  const asked = system.ask({ agent: branch.agent, capability: grow }, branch, {
    timeoutMs,
    signal: controller.signal,
  });
  asked.catch(() => undefined);
  return { asked, cancel: () => controller.abort() };
}

const waiting = (name: string, note: string, more: Partial<Branch> = {}): Branch => ({
  agent: name,
  note,
  outcome: 'wait',
  ...more,
});

/** Waits for the attempts that were begun: who hears of all threads may hear of one later than of another. */
const attempts = (count: number) =>
  until(
    `${count} attempts`,
    () => said.filter((line) => line === 'retry-branch: begin root').length === count,
  );

const settled = () =>
  until('everything is settled', async () => {
    const now = await system.conservation();
    return now.inFlight === 0 && now.holds && now;
  });

describe('Cancelling an ask (F-04)', () => {
  it('aborts the handler and everything it caused, asked and told, in every thread', async () => {
    const before = await settled();
    const { asked, cancel } = start(
      waiting('a', 'root', {
        branches: [
          waiting('b', 'asked', { branches: [waiting('e', 'below')] }),
          waiting('c', 'told', { by: 'tell', branches: [waiting('d', 'further', { by: 'tell' })] }),
        ],
      }),
    );
    await hears('a: begin root', 'b: begin asked', 'e: begin below', 'c: begin told', 'd: begin further');
    cancel();
    expect((await rejection(asked)).code).toBe('CANCELLED');
    await hears(
      'a: CANCELLED root',
      'b: CANCELLED asked',
      'e: CANCELLED below',
      'c: CANCELLED told',
      'd: CANCELLED further',
    );
    const after = await settled();
    expect(after.expired - before.expired).toBe(5);
    expect(after.deadLettered).toBe(before.deadLettered);
  });

  it('expires what still waits in a mailbox, and leaves alone what it did not cause', async () => {
    const other = start(waiting('b', 'other'));
    await hears('b: begin other');
    const { cancel } = start(
      waiting('a', 'root', {
        branches: [waiting('b', 'queued ask'), waiting('b', 'queued tell', { by: 'tell' })],
      }),
    );
    await hears('a: begin root');
    const before = await system.conservation();
    cancel();
    await hears('a: CANCELLED root');
    other.cancel();
    await hears('b: CANCELLED other');
    const after = await settled();
    expect(after.expired - before.expired).toBe(4);
    expect(said.filter((line) => line.includes('queued'))).toEqual([]);
  });

  it.each(['ask', 'tell'] as const)(
    'refuses what a handler still sends that has not noticed: %s',
    async (by) => {
      const late = waiting('b', 'too late', { by });
      const { cancel } = start({ agent: 'a', note: 'root', outcome: 'ignore', late });
      await hears('a: begin root');
      cancel();
      await hears('a: CANCELLED root', 'a: CANCELLED too late');
      await settled();
      expect(said.filter((line) => line.startsWith('b: '))).toEqual([]);
    },
  );

  it('does not undo what was answered before', async () => {
    const { asked, cancel } = start({
      agent: 'a',
      note: 'root',
      outcome: 'answer',
      branches: [{ agent: 'b', note: 'asked', outcome: 'answer' }],
    });
    expect(await asked).toHaveLength(2);
    cancel();
    expect(await start({ agent: 'a', note: 'next', outcome: 'answer' }).asked).toHaveLength(1);
    expect(said.filter((line) => line.includes('CANCELLED'))).toEqual([]);
  });
});

describe('What was cancelled (F-04)', () => {
  it('is not begun on by the thread that takes the place of one that died', async () => {
    const other = start(waiting('b', 'other'));
    await hears('b: begin other');
    const queued = start(waiting('b', 'queued'));
    queued.cancel();
    await system.terminate('worker-2');
    expect((await rejection(other.asked)).code).toBe('ACTOR_DIED');
    expect((await rejection(queued.asked)).code).toBe('CANCELLED');
    expect(await start({ agent: 'b', note: 'next', outcome: 'answer' }).asked).toHaveLength(1);
    await hears('b: end next');
    expect(said.filter((line) => line.includes('queued'))).toEqual([]);
    await settled();
  });
});

describe('Deadlines (F-04)', () => {
  it('only narrow on their way down', async () => {
    const beforeMs = Date.now();
    const { asked } = start(
      {
        agent: 'a',
        note: 'root',
        outcome: 'answer',
        branches: [
          { agent: 'b', note: 'wider', outcome: 'answer', timeoutMs: 600_000 },
          { agent: 'c', note: 'narrower', outcome: 'answer', timeoutMs: 10_000 },
        ],
      },
      50_000,
    );
    const [root = 0, wider = 0, narrower = 0] = await asked;
    expect(root).toBeGreaterThanOrEqual(beforeMs + 50_000);
    expect(root).toBeLessThanOrEqual(Date.now() + 50_000);
    expect(wider).toBe(root);
    expect(narrower).toBeLessThanOrEqual(Date.now() + 10_000);
  });

  it('end everything below when they pass, and the asker is told once', async () => {
    const { asked } = start(
      waiting('a', 'root', {
        branches: [waiting('b', 'asked', { timeoutMs: 60_000 }), waiting('c', 'told', { by: 'tell' })],
      }),
      // Long enough for all of them to have begun.
      3_000,
    );
    expect((await rejection(asked)).code).toBe('DEADLINE_EXCEEDED');
    await hears('a: DEADLINE_EXCEEDED root', 'c: DEADLINE_EXCEEDED told');
    await until('the asked one hears of it', () =>
      said.some((line) => /^b: (DEADLINE_EXCEEDED|CANCELLED) asked$/.test(line)),
    );
    await settled();
  });

  it('expire what still waits in a mailbox', async () => {
    const other = start(waiting('b', 'other'));
    await hears('b: begin other');
    const { asked } = start(waiting('b', 'queued'), 50);
    expect((await rejection(asked)).code).toBe('DEADLINE_EXCEEDED');
    const before = await system.conservation();
    other.cancel();
    const after = await settled();
    expect(after.expired - before.expired).toBe(2);
    expect(said).not.toContain('b: begin queued');
  });
});

describe('The death of an agent', () => {
  it.each([
    ['across threads', 'b'],
    ['within one thread', 'c'],
  ])('cancels what it asked for, and only that: %s', async (_, below) => {
    const gate = join(folder, `gate-${below}`);
    const { asked } = start({
      agent: 'a',
      note: 'root',
      outcome: 'throw',
      gate,
      branches: [
        waiting(below, 'asked', { branches: [waiting('d', 'below')] }),
        waiting('e', 'told', { by: 'tell' }),
      ],
    });
    await hears('a: begin root', `${below}: begin asked`, 'd: begin below', 'e: begin told');
    writeFileSync(gate, '');
    const { code, message } = await rejection(asked);
    expect(code).toBe('HANDLER_FAILED');
    expect(message).toContain('root fell');
    await hears(`${below}: CANCELLED asked`, 'd: CANCELLED below');
    expect(await start({ agent: 'a', note: 'next', outcome: 'answer' }).asked).toHaveLength(1);
    // Of the thread of both: whatever was said there before has been heard.
    await hears('a: end next');
    expect(said).not.toContain('e: CANCELLED told');
    await system.terminate('worker-1');
    await settled();
  });

  it('with its thread cancels what it asked for in other threads', async () => {
    const { asked } = start(
      waiting('a', 'root', { branches: [waiting('b', 'asked', { branches: [waiting('d', 'below')] })] }),
    );
    await hears('a: begin root', 'b: begin asked', 'd: begin below');
    await system.terminate('worker-1');
    expect((await rejection(asked)).code).toBe('ACTOR_DIED');
    await hears('b: CANCELLED asked', 'd: CANCELLED below');
    await settled();
  });

  it.each([
    ['throws', 'throw once'],
    ['loses its thread', 'answer'],
  ] as const)(
    'that tries again does not: its second attempt gets the answer, when it %s',
    async (how, outcome) => {
      const [gate, answerGate] = [join(folder, `retry ${how}`), join(folder, `answer ${how}`)];
      const branches = [{ agent: 'a', note: 'asked', outcome: 'answer' as const, gate: answerGate }];
      const { asked } = start({
        agent: 'retry-branch',
        note: 'root',
        outcome,
        branches,
        ...(outcome === 'answer' ? {} : { gate }),
      });
      await hears('retry-branch: begin root', 'a: begin asked');
      if (outcome === 'answer') await system.terminate('worker-2');
      else writeFileSync(gate, '');
      await attempts(2);
      writeFileSync(answerGate, '');
      expect(await asked).toHaveLength(2);
      await hears('retry-branch: end root', 'a: end asked');
      expect((await settled()).holds).toBe(true);
      expect(said.filter((line) => line === 'a: begin asked')).toHaveLength(1);
      expect(said.filter((line) => line.includes('CANCELLED'))).toEqual([]);
    },
  );

  it('for the last time cancels what it asked for: the envelope is POISON', async () => {
    const gate = join(folder, 'poison');
    const branches = [waiting('a', 'asked')];
    const { asked } = start({ agent: 'retry-branch', note: 'root', outcome: 'throw', gate, branches });
    await hears('retry-branch: begin root', 'a: begin asked');
    writeFileSync(gate, '');
    expect((await rejection(asked)).code).toBe('POISON');
    await hears('a: CANCELLED asked');
    await settled();
    await attempts(3);
  });
});
