import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { startSystem } from 'orrery';
import { openSystemTasks, type Task } from 'orrery/tasks';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { linesOf } from '../fixtures/lines-of.ts';
import { clerk, wipe } from '../fixtures/agents/clerking.ts';
import { fall, fallAndList } from '../fixtures/agents/tasking.ts';
import { times } from '../fixtures/effort.ts';
import { seededRandom } from '../fixtures/seeded-random.ts';
import { agent, until } from '../fixtures/until.ts';
import { CONDITIONS } from '../fixtures/conditions.ts';

const HOST = fileURLToPath(new URL('../fixtures/task-host.ts', import.meta.url));
const KILLS = times(2, 5);
const SENDS = 80;
const SEED = 22_112_026;
const OWNER = { principalId: 'alice' };

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'orrery-durable-tasks-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** One process of the system. `kill` ends it at a moment of its own choice. */
async function live(
  life: number,
  sends: number,
  kill?: (says: (word: string) => boolean) => Promise<void>,
): Promise<void> {
  const words = [...CONDITIONS, HOST, folder, `${life}`, `${sends}`];
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'pipe'] });
  let printed = '';
  let errors = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  const gone = once(child, 'close');
  if (kill === undefined) {
    await gone;
    expect(errors).toBe('');
    expect(printed).toContain('over');
    return;
  }
  await kill((word) => printed.includes(word) || child.exitCode !== null);
  expect(errors).toBe('');
  child.kill('SIGKILL');
  await gone;
}

const worked = (): string[] => linesOf(join(folder, 'worked'));
const isDense = (numbers: readonly number[]): boolean => numbers.every((number, at) => number === at + 1);

describe('Tasks of a system with a journal, killed again and again (X-25..X-29, A-08, A-11, C-10, C-11, F-01)', () => {
  it('all come to an end; each change is seen once and in order, and each message worked at as its agent is', async () => {
    const random = seededRandom(SEED);
    for (let life = 1; life <= KILLS; life++) {
      const reached = worked().length + 5 + Math.floor(random() * 60);
      const waitMs = random() * 60;
      await live(life, SENDS, async (says) => {
        await until('it is up', () => says('up'));
        await until('it works', () => says('sent') || worked().length >= reached);
        await new Promise((resolve) => setTimeout(resolve, waitMs));
      });
    }
    await live(KILLS + 1, 0);

    const tasks = new Map(
      linesOf(join(folder, 'ended')).map((line) => {
        const task = JSON.parse(line) as Task;
        return [task.id, task] as const;
      }),
    );
    const sent = linesOf(join(folder, 'sent')).map((line) => line.split(' '));
    expect(sent.length).toBeGreaterThan(8 * KILLS);
    const times = (word: string, id: string): number =>
      worked().filter((line) => line === `${word} ${id}`).length;
    let failed = 0;
    for (const [messageId = '', taskId = '', agentId = '', capability] of sent) {
      const task = tasks.get(taskId) as Task;
      expect(task.history.filter((said) => said.messageId === messageId)).toHaveLength(1);
      const isAgain = agentId.includes('retry') || capability === 'task.read';
      if (task.status.state !== 'completed') {
        failed += 1;
        expect(task.status).toMatchObject({
          state: 'failed',
          message: { parts: [{ text: expect.any(String) }, {}] },
        });
        expect(`${agentId} ${capability}`).not.toContain('retry');
        expect(isAgain && agentId === 'brief-worker').toBe(false);
      } else expect(times('done', messageId)).toBeGreaterThan(0);
      if (agentId === 'once-worker' || (agentId === 'brief-worker' && capability !== 'task.read'))
        expect(times('begun', messageId)).toBeLessThanOrEqual(1);
    }
    // Only what was in hand when a process ended.
    expect(failed).toBeLessThanOrEqual(8 * KILLS * 2);
    for (const [id, task] of tasks) {
      const seen = linesOf(join(folder, `seen-${id}`)).map((line) => Number(line.split(' ')[0]));
      expect(isDense(seen)).toBe(true);
      expect(seen).toHaveLength(task.generation);
    }
    const talked = [...tasks.values()].filter(
      ({ artifacts, status }) =>
        status.state === 'completed' && artifacts.some(({ artifactId }) => artifactId === 'steps'),
    );
    for (const { artifacts } of talked)
      expect(artifacts.find(({ artifactId }) => artifactId === 'steps')?.parts.at(-1)).toEqual({ text: '2' });
    expect(talked.length).toBeGreaterThan(0);
  }, 300_000);
});

const FALLING_HOST = fileURLToPath(new URL('../fixtures/task-falling-host.ts', import.meta.url));

describe('A task whose agent ends its process as soon as it begins (X-25, A-08, F-01)', () => {
  // What an agent that is not durable is sent, and what it streams, is in no journal.
  it.each([
    ['brief-worker', fall.id, 1, 'failed'],
    ['brief-worker', fallAndList.id, 1, 'failed'],
    ['once-worker', fall.id, 1, 'failed'],
    ['once-worker', fallAndList.id, 1, 'failed'],
    ['brief-retry-worker', fall.id, 2, 'completed'],
  ])(
    'is, of %s asked for %s, begun on %i times over all processes, and %s',
    async (agentId, capability, times, state) => {
      const life = async (): Promise<string> => {
        const words = [...CONDITIONS, FALLING_HOST, folder, agentId, capability];
        const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] });
        const [printed] = await Promise.all([text(child.stdout), once(child, 'close')]);
        return printed.trim();
      };
      expect(await life()).toBe('');
      expect(await life()).toBe(state);
      expect(worked()).toHaveLength(times);
    },
  );
});

/** A system on the journal of the one before it. */
async function start() {
  const system = await startSystem({
    journal: { path: join(folder, 'journal.db') },
    workers: 2,
    agents: [agent('once-worker'), agent('retry-worker'), agent('brief-worker'), clerk('clerk')],
  });
  return { system, tasks: await openSystemTasks(system) };
}
type Running = Awaited<ReturnType<typeof start>>;
const stop = async ({ system, tasks }: Running, isClosed = true): Promise<void> => {
  if (isClosed) await tasks.close();
  await system.stop({ drainMs: 0 });
};
let sent = 0;
const call = (tool: string, input: object, taskId?: string) => ({
  agentId: 'clerk',
  message: {
    messageId: `s${++sent}`,
    role: 'user' as const,
    parts: [{ data: tool === '' ? { ...input } : { tool, arguments: { ...input } } }],
  },
  ...(taskId === undefined ? {} : { taskId }),
});

describe('Tasks of a system that is stopped and started again', () => {
  it.each([true, false])(
    'go on with agents that try again, and fail with a reason with others (engine closed before: %s)',
    async (isClosed) => {
      const first = await start();
      const input = { file: join(folder, 'worked'), ms: 5_000 };
      const ids = await Promise.all(
        ['once-worker', 'retry-worker', 'brief-worker'].map(async (agentId) => {
          const { id } = await first.tasks.send(OWNER, { ...call('task.work', input), agentId });
          return id;
        }),
      );
      await until('all are at work', () => worked().length === 3);
      await stop(first, isClosed);
      const second = await start();
      const ended = await Promise.all(ids.map((id) => second.tasks.whenIdle(OWNER, id)));
      expect(ended.map(({ status }) => status.state)).toEqual(['failed', 'completed', 'failed']);
      for (const { status } of [ended[0], ended[2]] as Task[])
        expect(status.message?.parts[0]).toEqual({
          text: expect.stringMatching(/end|nothing twice|stop|died/),
        });
      expect(worked().filter((line) => line.startsWith('begun'))).toHaveLength(4);
      await stop(second);
    },
  );

  it('remember what was asked, an approval that was given, and what is forgotten (C-24, X-51)', async () => {
    const file = join(folder, 'wiped');
    let running = await start();
    const asked = await running.tasks.send(OWNER, call(wipe.id, { disk: 'c', file, times: 2 }));
    const { id } = asked;
    const again = async (): Promise<Task> => {
      await stop(running);
      running = await start();
      return running.tasks.whenIdle(OWNER, id);
    };
    const approvalOf = ({ status }: Task): string => {
      const part = status.message?.parts[1] as { data: { approvalRequired: { approvalId: string } } };
      return part.data.approvalRequired.approvalId;
    };
    await running.tasks.whenIdle(OWNER, id);
    const first = await again();
    expect(first.status.state).toBe('input-required');
    const approvalId = approvalOf(first);
    await running.tasks.send(OWNER, call('', { approvalId, approved: true }, id));
    const second = await running.tasks.whenIdle(OWNER, id);
    // It was good for one time, also after another restart.
    expect([second.status.state, linesOf(file)]).toEqual(['input-required', ['c']]);
    const third = await again();
    await running.tasks.send(OWNER, call('', { approvalId, approved: true }, id));
    expect((await running.tasks.whenIdle(OWNER, id)).status.state).toBe('input-required');
    expect(linesOf(file)).toEqual(['c']);
    await running.tasks.send(OWNER, call('', { approvalId: approvalOf(third), approved: true }, id));
    await running.tasks.whenIdle(OWNER, id);
    expect(linesOf(file)).toEqual(['c', 'c']);
    await stop(running);
  });
});
