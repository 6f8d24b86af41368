import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TaskEngine } from '../../actors/tasks/task-engine.ts';
import type { Turn, TurnOutcome } from '../../actors/tasks/task-turns.ts';
import { systemSeams } from '../../runtime/protocol/system-seams.ts';
import { isTaskOver, type TaskChange, type TaskMessage } from '../../runtime/protocol/task.ts';
import { FakeClock } from '../fixtures/fake-clock.ts';
import { KeptTasks } from '../fixtures/kept-tasks.ts';

const OWNER = { principalId: 'alice', tenant: 'acme' };
const OUTCOMES = ['completed', 'failed', 'rejected', 'input-required', 'auth-required'] as const;

const arbStep = fc.oneof(
  { weight: 4, arbitrary: fc.record({ does: fc.constant('keep' as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({ does: fc.constant('send' as const), n: fc.nat(5), to: fc.option(fc.nat(3)) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      does: fc.constant('end' as const),
      at: fc.nat(3),
      as: fc.constantFrom(...OUTCOMES),
    }),
  },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('say' as const), at: fc.nat(3) }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('cancel' as const), task: fc.nat(3) }) },
  {
    weight: 1,
    arbitrary: fc.record({ does: fc.constant('read' as const), task: fc.nat(3), after: fc.nat(6) }),
  },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('restart' as const) }) },
);
type Step = typeof arbStep extends fc.Arbitrary<infer One> ? One : never;

/** Engines one after the other on one log, whose writes and turns are in the hands of the test. */
class Lives {
  readonly log = new KeptTasks(true);
  /** Messages by how often their turn has begun, over all lives. */
  readonly begun = new Map<string, number>();
  /** Tasks that had two turns at once. */
  readonly overlaps: string[] = [];
  readonly acknowledged = new Map<string, string>();
  readonly readers: { readonly id: string; readonly after: number; readonly seen: TaskChange[] }[] = [];
  open: { readonly turn: Turn; readonly end: (outcome: TurnOutcome) => void }[] = [];
  #engine: TaskEngine | undefined;
  readonly #isAgain: boolean;

  constructor(isAgain: boolean) {
    this.#isAgain = isAgain;
  }

  get engine(): TaskEngine {
    return this.#engine as TaskEngine;
  }

  async start(): Promise<void> {
    const run = (turn: Turn): Promise<TurnOutcome> => {
      const { id } = turn.opening;
      if (this.open.some((one) => one.turn.opening.id === id && !one.turn.signal.aborted))
        this.overlaps.push(id);
      const said = textOf(turn.message);
      this.begun.set(said, (this.begun.get(said) ?? 0) + 1);
      return new Promise((end) => this.open.push({ turn, end }));
    };
    const seams = { ...systemSeams(), clock: new FakeClock() };
    const onRestart = this.#isAgain ? () => 'again' as const : () => ({ failed: 'it ended' });
    this.#engine = await TaskEngine.open({ seams, run, log: this.log, onRestart, limits: { turns: 2 } });
  }

  /** The process ends, at any moment. */
  async restart(): Promise<void> {
    this.log.lose();
    this.open = [];
    await this.start();
  }

  async do(step: Step): Promise<void> {
    const ids = [...this.log.tasks.values()].map(({ opening }) => opening.id);
    switch (step.does) {
      case 'keep':
        this.log.keep();
        break;
      case 'send': {
        const messageId = `m${step.n}`;
        const taskId = step.to === null ? undefined : ids[step.to];
        // The same id to another task says something else, and is a message of its own.
        const text = `${messageId} to ${taskId ?? 'a new one'}`;
        const message = { messageId, role: 'user' as const, parts: [{ text }] };
        const sending = this.engine.send(OWNER, {
          message,
          agentId: 'mars',
          ...(taskId === undefined ? {} : { taskId }),
        });
        sending.then(({ id }) => this.#acknowledge(text, id)).catch(() => undefined);
        break;
      }
      case 'end': {
        const [ended] = this.open.splice(step.at % Math.max(1, this.open.length), 1);
        ended?.end({ state: step.as });
        break;
      }
      case 'say':
        this.open[step.at]?.turn.artifact({ artifactId: 'a', parts: [{ text: 'x' }] }, { append: true });
        break;
      case 'cancel': {
        const id = ids[step.task];
        if (id !== undefined) this.engine.cancel(OWNER, id).catch(() => undefined);
        break;
      }
      case 'read':
        this.#read(ids[step.task], step.after);
        break;
      case 'restart':
        await this.restart();
    }
    await settle();
  }

  /** Lets everything end. */
  async finish(): Promise<void> {
    for (let round = 0; round < 200; round++) {
      while (this.log.waiting > 0) this.log.keep();
      for (const { end } of this.open.splice(0)) end({ state: 'completed' });
      await settle();
      if (this.log.waiting === 0 && this.open.length === 0) return;
    }
    throw new Error('it does not come to rest');
  }

  #acknowledge(text: string, taskId: string): void {
    const known = this.acknowledged.get(text);
    if (known !== undefined) expect(taskId, text).toBe(known);
    this.acknowledged.set(text, taskId);
  }

  #read(id: string | undefined, after: number): void {
    if (id === undefined) return;
    const reader = { id, after, seen: [] as TaskChange[] };
    this.readers.push(reader);
    void (async () => {
      for await (const change of this.engine.changes(OWNER, id, { after })) {
        // What is shown would be there after an end at this very moment.
        expect(this.log.kept(id)?.changes[change.generation - 1]).toEqual(change);
        reader.seen.push(change);
      }
    })();
  }
}

const textOf = ({ parts }: TaskMessage): string =>
  parts.map((part) => ('text' in part ? part.text : '')).join();

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('Tasks over any schedule of requests, turns, writes and ends of the process', () => {
  it.each([[false], [true]])(
    'are worked at one turn at a time and lose nothing, done again after an end: %s',
    async (isAgain) => {
      await fc.assert(
        fc.asyncProperty(fc.array(arbStep, { minLength: 20, maxLength: 60, size: 'max' }), async (steps) => {
          const lives = new Lives(isAgain);
          await lives.start();
          for (const step of steps) await lives.do(step);
          await lives.finish();
          expect(lives.overlaps).toEqual([]);
          for (const { opening, changes } of lives.log.load()) {
            expect(changes.map(({ generation }) => generation)).toEqual(changes.map((_, at) => at + 1));
            const states = changes.flatMap((change) => (change.kind === 'status' ? [change.state] : []));
            expect(states.slice(0, -1).some(isTaskOver), 'it changed after its end').toBe(false);
            const task = lives.engine.get(OWNER, opening.id);
            expect(task.generation).toBe(changes.length);
            const waits = task.status.state === 'input-required' || task.status.state === 'auth-required';
            expect(isTaskOver(task.status.state) || waits, task.status.state).toBe(true);
          }
          for (const [text, taskId] of lives.acknowledged) {
            const said = lives.engine.get(OWNER, taskId).history.filter((one) => textOf(one) === text);
            expect(said, text).toHaveLength(1);
          }
          if (!isAgain) {
            const twice = [...lives.begun].filter(([, count]) => count > 1).map(([text]) => text);
            expect(twice).toEqual([]);
          }
          for (const { after, seen } of lives.readers)
            expect(seen.map(({ generation }) => generation)).toEqual(seen.map((_, at) => after + at + 1));
        }),
        { numRuns: 150 },
      );
    },
  );
});
