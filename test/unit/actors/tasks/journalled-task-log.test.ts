import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JournalledTaskLog, type TaskRecords } from '../../../../actors/tasks/journalled-task-log.ts';
import type { LoggedTask, TaskOpening, TaskWrite } from '../../../../actors/tasks/task-log.ts';
import type { TaskChange } from '../../../../runtime/protocol/task.ts';
import { KeptTasks } from '../../../fixtures/kept-tasks.ts';

/** The records of a system, in the hands of a test: in the order of their keys, as JSON has them. */
class HeldRecords implements TaskRecords {
  readonly texts = new Map<string, string>();
  /** How many characters were written, and in how many records. */
  written = { characters: 0, records: 0 };

  put(kind: string, key: string, value: unknown): Promise<void> {
    const place = `${kind}\n${key}`;
    if (value === undefined) this.texts.delete(place);
    else {
      const text = JSON.stringify(value);
      this.texts.set(place, text);
      this.written.characters += text.length;
      this.written.records += 1;
    }
    return Promise.resolve();
  }

  async *read(kind: string): AsyncGenerator<{ key: string; value: unknown }> {
    const keys = [...this.texts.keys()].sort().filter((place) => place.startsWith(`${kind}\n`));
    for (const place of keys)
      yield { key: place.slice(kind.length + 1), value: JSON.parse(this.texts.get(place) as string) };
  }

  keysOf(kind: string): string[] {
    return [...this.texts.keys()]
      .filter((place) => place.startsWith(`${kind}\n`))
      .map((place) => place.slice(kind.length + 1));
  }
}

const KIND = 'orrery/task';
const openingOf = (key: string): TaskOpening => ({
  id: `id-of-${key}`,
  key,
  contextId: 'c',
  createdAtMs: 1,
  owner: { principalId: 'alice', tenant: 'acme' },
  agentId: 'mars',
});
const said = (generation: number): TaskChange => ({
  kind: 'message',
  generation,
  atMs: 1,
  message: { messageId: `m${generation}`, role: 'user', parts: [{ text: `${generation}` }] },
});
const chunk = (generation: number): TaskChange => ({
  kind: 'artifact',
  generation,
  atMs: 1,
  artifact: { artifactId: 'a', parts: [{ text: `${generation}` }] },
  append: generation > 2,
  lastChunk: false,
});

function open(records = new HeldRecords(), merged = 128) {
  const problems: string[] = [];
  const log = new JournalledTaskLog({
    records,
    merged,
    onProblem: (key, reason) => problems.push(`${key}: ${reason}`),
  });
  return { records, problems, log };
}

async function loaded(log: JournalledTaskLog): Promise<LoggedTask[]> {
  const found: LoggedTask[] = [];
  for await (const task of log.load()) found.push(task);
  return found.sort((one, other) => (one.opening.key < other.opening.key ? -1 : 1));
}

const arbSteps = fc.array(
  fc.oneof(
    {
      weight: 20,
      arbitrary: fc.record({ does: fc.constant('append' as const), task: fc.nat(1), count: fc.nat(3) }),
    },
    {
      weight: 10,
      arbitrary: fc.record({ does: fc.constant('memo' as const), task: fc.nat(1), n: fc.nat(9) }),
    },
    { weight: 1, arbitrary: fc.record({ does: fc.constant('forget' as const), task: fc.nat(1) }) },
    { weight: 1, arbitrary: fc.record({ does: fc.constant('restart' as const) }) },
  ),
  { minLength: 1, maxLength: 200, size: 'max' },
);

describe('A log of tasks in the records of a system', () => {
  it('gives the next engine everything that was kept, whatever it made of the records', async () => {
    await fc.assert(
      fc.asyncProperty(arbSteps, fc.integer({ min: 2, max: 9 }), async (steps, merged) => {
        const model = new KeptTasks();
        let { records, log, problems } = open(undefined, merged);
        let tasks = 0;
        const keys = [0, 1].map((at) => `task-${at}`);
        const generations = new Map<string, number>();
        const write = async (key: string, step: TaskWrite): Promise<void> => {
          if (generations.has(key)) await Promise.all([log.append(key, step), model.append(key, step)]);
          else {
            const opening = openingOf(key);
            await Promise.all([log.open(opening, step), model.open(opening, step)]);
          }
        };
        for (const step of steps) {
          if (step.does === 'restart') {
            ({ log, problems, records } = open(records, merged));
            await loaded(log);
            expect(problems).toEqual([]);
            continue;
          }
          const key = keys[step.task] as string;
          const last = generations.get(key) ?? 0;
          if (step.does === 'forget') {
            if (last > 0) await Promise.all([log.forget(key), model.forget(key)]);
            generations.delete(key);
            // A forgotten key never comes again.
            keys[step.task] = `task-${step.task}-${++tasks}`;
          } else if (step.does === 'memo') {
            if (last > 0) await write(key, { changes: [], memo: { n: step.n } });
          } else {
            const changes = Array.from({ length: step.count + 1 }, (_, at) => said(last + at + 1));
            const terms = [[`m${last + 1}`, { tier: 2 as const, readOnly: true }] as const];
            await write(key, { changes, ...(step.count === 0 ? { terms } : {}) });
            generations.set(key, last + changes.length);
          }
        }
        const left = await loaded(open(records).log);
        const kept = [...model.tasks.values()].sort((one, other) =>
          one.opening.key < other.opening.key ? -1 : 1,
        );
        expect(left).toEqual(kept.map((task) => ({ ...task, terms: task.terms ?? [] })));
      }),
      { numRuns: 100 },
    );
  });

  it('has few records of a task of many chunks, and has written each chunk twice at most', async () => {
    const { log, records } = open();
    await log.open(openingOf('task'), { changes: [said(1)] });
    for (let n = 2; n <= 2_000; n++) await log.append('task', { changes: [chunk(n)] });
    expect(records.keysOf(KIND).length).toBeLessThan(150);
    const all = [...records.texts.values()].reduce((sum, text) => sum + text.length, 0);
    expect(records.written.characters).toBeLessThan(2.5 * all);
    const [task] = await loaded(open(records).log);
    expect(task?.changes).toHaveLength(2_000);
    await log.forget('task');
    expect(records.texts.size).toBe(0);
  });

  it('passes over what cannot be read, says so, and moves it aside', async () => {
    const { log, records } = open();
    for (const key of ['a', 'b', 'c', 'd']) {
      await log.open(openingOf(key), { changes: [said(1)] });
      await log.append(key, { changes: [said(2)], memo: 1 });
      await log.append(key, { changes: [said(3)] });
    }
    const nth = (key: string, n: number) => `${KIND}\n${key}/${String(n).padStart(12, '0')}`;
    records.texts.set(nth('a', 0), '{"opening":4,"changes":[]}');
    records.texts.set(nth('b', 1), '"nonsense"');
    records.texts.delete(nth('c', 1));
    const next = open(records);
    const left = await loaded(next.log);
    const found = left.map(({ opening, changes }) => [opening.key, changes.length]);
    // What follows something that is not there is not believed.
    expect(found).toEqual([
      ['b', 1],
      ['c', 1],
      ['d', 3],
    ]);
    expect(next.problems).toHaveLength(3 + 2 + 1);
    expect(records.keysOf('orrery/task-aside')).toHaveLength(6);
    await next.log.append('b', { changes: [said(2)] });
    const again = open(records);
    expect((await loaded(again.log))[0]?.changes).toEqual([said(1), said(2)]);
    expect(again.problems).toEqual([]);
  });

  it('moves aside what has a task where none can come, and what is said of it after that', async () => {
    const { log, records } = open();
    const status = (generation: number, state: 'working' | 'completed' | 'canceled'): TaskChange => ({
      kind: 'status',
      generation,
      atMs: 1,
      state,
    });
    await log.open(openingOf('a'), { changes: [said(1), status(2, 'working')] });
    await log.append('a', { changes: [status(3, 'completed')] });
    await log.append('a', { changes: [status(4, 'canceled')] });
    await log.append('a', { changes: [said(5)] });
    const next = open(records);
    const [left] = await loaded(next.log);
    expect(left?.changes).toEqual([said(1), status(2, 'working'), status(3, 'completed')]);
    expect(next.problems).toEqual([
      expect.stringContaining('its change 4 cannot follow: it is completed'),
      expect.stringContaining('its changes do not follow change 3'),
    ]);
    expect(records.keysOf('orrery/task-aside')).toHaveLength(2);
  });
});
