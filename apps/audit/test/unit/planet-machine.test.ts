import { createActor, fromPromise } from 'xstate';
import { beforeEach, describe, expect, it } from 'vitest';
import type { HandlingContext } from 'orrery';
import { planetMachine, type Listed, type PlanetStep } from '../../planet.machine.ts';
import type { AuditAnswer } from '../../audit-answer.ts';
import type { ToolOutcome } from '../../run-tool.ts';

const LISTED: Listed = { root: '/repo', files: [], notes: [] };
const ANSWER = { findings: [], notes: [], filesSeen: 0, bytesSeen: 0 };

/** Steps end when the test says so. */
class Steps {
  readonly given: Record<string, PlanetStep[]> = { list: [], runTool: [], check: [] };
  readonly #open = new Map<string, PromiseWithResolvers<unknown>>();

  logic<Output>(name: string) {
    return fromPromise<Output, PlanetStep>(({ input }) => {
      this.given[name]?.push(input);
      const open = Promise.withResolvers<unknown>();
      this.#open.set(name, open);
      return open.promise as Promise<Output>;
    });
  }

  async end(name: string, output: unknown): Promise<void> {
    this.#open.get(name)?.resolve(output);
    await new Promise(setImmediate);
  }

  async fail(name: string, error: unknown): Promise<void> {
    this.#open.get(name)?.reject(error);
    await new Promise(setImmediate);
  }
}

let steps: Steps;
let cutOff: AbortController;
let said: unknown[][];
beforeEach(() => {
  steps = new Steps();
  cutOff = new AbortController();
  said = [];
});

function start(tools = 2) {
  const machine = planetMachine('look').provide({
    actors: {
      list: steps.logic<Listed>('list'),
      runTool: steps.logic<ToolOutcome>('runTool'),
      check: steps.logic<AuditAnswer>('check'),
    },
    guards: { isToolLeft: ({ context }) => context.outcomes.length < tools },
  });
  const planet = createActor(machine).start();
  const ctx = {
    get signal() {
      return cutOff.signal;
    },
    reply: (answer: unknown) => said.push(['reply', answer]),
    fail: (error: unknown) => said.push(['fail', error]),
    settle: () => said.push(['settle']),
  } as unknown as HandlingContext;
  const ask = () => planet.send({ type: 'look', input: { root: '/repo' }, ctx });
  return { planet, ask };
}

describe("a planet's machine", () => {
  it('lists, runs its tools one after the other, checks, answers, and waits again', async () => {
    const { planet, ask } = start();
    expect(planet.getSnapshot().hasTag('ready')).toBe(true);
    ask();
    expect(planet.getSnapshot().value).toEqual({ busy: 'listing' });
    await steps.end('list', LISTED);
    expect(planet.getSnapshot().value).toEqual({ busy: 'atWork' });
    await steps.end('runTool', { nothing: 'no files' });
    expect(planet.getSnapshot().value).toEqual({ busy: 'atWork' });
    expect(steps.given['runTool']?.map(({ outcomes }) => outcomes.length)).toEqual([0, 1]);
    await steps.end('runTool', { died: 'it died' });
    expect(planet.getSnapshot().value).toEqual({ busy: 'checking' });
    expect(steps.given['check']).toMatchObject([
      { outcomes: [{ nothing: 'no files' }, { died: 'it died' }] },
    ]);
    await steps.end('check', ANSWER);
    expect(said).toEqual([['reply', ANSWER]]);
    expect(planet.getSnapshot()).toMatchObject({
      value: 'waiting',
      context: { job: undefined, outcomes: [] },
    });
  });

  it.each([
    ['list', []],
    ['runTool', ['list']],
    ['check', ['list', 'runTool', 'runTool']],
  ] as const)('declines what it was asked when the step %s fails', async (failing, before) => {
    const { planet, ask } = start();
    ask();
    for (const step of before) await steps.end(step, step === 'list' ? LISTED : { nothing: 'no files' });
    const error = new Error('planted');
    await steps.fail(failing, error);
    expect(said).toEqual([['fail', error]]);
    expect(planet.getSnapshot().value).toBe('waiting');
  });

  it('leaves whatever it does when its work is cut off, and takes the next', async () => {
    const { planet, ask } = start();
    ask();
    await steps.end('list', LISTED);
    cutOff.abort();
    expect(said).toEqual([['settle']]);
    expect(planet.getSnapshot().value).toBe('waiting');
    await steps.end('runTool', { died: 'too late' });
    expect(planet.getSnapshot()).toMatchObject({ value: 'waiting', context: { outcomes: [] } });
    cutOff = new AbortController();
    ask();
    expect(planet.getSnapshot().value).toEqual({ busy: 'listing' });
  });

  it('does not begin on what was cut off before', () => {
    cutOff.abort();
    start().ask();
    expect(said).toEqual([['settle']]);
  });

  it('takes its own capability alone', () => {
    const { planet } = start();
    expect(planet.getSnapshot().can({ type: 'look' })).toBe(true);
    expect(planet.getSnapshot().can({ type: 'task-proposal' })).toBe(false);
  });
});
