import { type AnyStateMachine, createActor, fromPromise } from 'xstate';
import { beforeEach, describe, expect, it } from 'vitest';
import type { HandlingContext } from 'orrery';
import type { AuditAnswer } from '../../audit-answer.ts';
import type { RepositoryFiles } from '../../list-repository.ts';
import { missionPlanetMachine, type PlanetStep, planetMachine, type ToolStep } from '../../planet.machine.ts';
import type { ToolOutcome } from '../../run-tool.ts';

const LISTED: RepositoryFiles = { files: [], notes: [] };
const ANSWER = { findings: [], notes: [], filesSeen: 0, bytesSeen: 0 };

/** Steps end when the test says so. */
class Steps {
  readonly given: [step: string, input: unknown][] = [];
  readonly #open = new Map<string, PromiseWithResolvers<unknown>>();

  logic<Output, Input extends PlanetStep = PlanetStep>(name: string) {
    return fromPromise<Output, Input>(({ input }) => {
      this.given.push([name, input]);
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

const ROLE = { id: 'mars', capability: 'look' };

function withTools() {
  return planetMachine(ROLE, ['first', 'second']).provide({
    actors: {
      open: steps.logic<string>('open'),
      list: steps.logic<RepositoryFiles>('list'),
      runTool: steps.logic<ToolOutcome, ToolStep>('runTool'),
      check: steps.logic<AuditAnswer>('check'),
    },
  });
}

function aboutMission() {
  return missionPlanetMachine(ROLE).provide({
    actors: { open: steps.logic<string>('open'), report: steps.logic<AuditAnswer>('report') },
  });
}

function start(machine: AnyStateMachine = withTools()) {
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

const OUTPUTS: Readonly<Record<string, unknown>> = {
  open: '/repo',
  list: LISTED,
  runTool: { nothing: 'no files' },
  check: ANSWER,
};

describe('the machine of a planet with tools', () => {
  it('opens, lists, is at work with one tool after the other, checks, answers, and waits again', async () => {
    const { planet, ask } = start();
    const states: unknown[] = [planet.getSnapshot().value];
    planet.subscribe(({ value }) => states.push(value));
    expect(planet.getSnapshot().hasTag('ready')).toBe(true);
    ask();
    for (const step of ['open', 'list']) await steps.end(step, OUTPUTS[step]);
    await steps.end('runTool', { nothing: 'no files' });
    await steps.end('runTool', { died: 'it died' });
    await steps.end('check', ANSWER);
    expect(states.filter((one, at) => one !== states[at - 1])).toEqual([
      'waiting',
      { busy: 'opening' },
      { busy: 'listing' },
      { busy: { atWork: 'first' } },
      { busy: { atWork: 'second' } },
      { busy: 'checking' },
      'waiting',
    ]);
    expect(steps.given).toMatchObject([
      ['open', { job: { request: { root: '/repo' } } }],
      ['list', { root: '/repo' }],
      ['runTool', { tool: 'first', listed: LISTED, outcomes: [] }],
      ['runTool', { tool: 'second', outcomes: [{ nothing: 'no files' }] }],
      ['check', { outcomes: [{ nothing: 'no files' }, { died: 'it died' }] }],
    ]);
    expect(said).toEqual([['reply', ANSWER]]);
    expect(planet.getSnapshot()).toMatchObject({
      value: 'waiting',
      context: { job: undefined, outcomes: [] },
    });
  });

  it.each([
    ['open', []],
    ['list', ['open']],
    ['runTool', ['open', 'list']],
    ['runTool', ['open', 'list', 'runTool']],
    ['check', ['open', 'list', 'runTool', 'runTool']],
  ] as const)('declines what it was asked when the step %s fails', async (failing, before) => {
    const { planet, ask } = start();
    ask();
    for (const step of before) await steps.end(step, OUTPUTS[step]);
    const error = new Error('planted');
    await steps.fail(failing, error);
    expect(said).toEqual([['fail', error]]);
    expect(planet.getSnapshot().value).toBe('waiting');
  });

  it('leaves whatever it does when its work is cut off, and takes the next', async () => {
    const { planet, ask } = start();
    ask();
    for (const step of ['open', 'list']) await steps.end(step, OUTPUTS[step]);
    cutOff.abort();
    expect(said).toEqual([['settle']]);
    expect(planet.getSnapshot().value).toBe('waiting');
    await steps.end('runTool', { died: 'too late' });
    expect(planet.getSnapshot()).toMatchObject({ value: 'waiting', context: { outcomes: [] } });
    cutOff = new AbortController();
    ask();
    expect(planet.getSnapshot().value).toEqual({ busy: 'opening' });
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

describe('the machine of a planet that reports on the mission', () => {
  it('opens the repository, reports and answers', async () => {
    const { planet, ask } = start(aboutMission());
    ask();
    expect(planet.getSnapshot().value).toEqual({ busy: 'opening' });
    await steps.end('open', '/repo');
    expect(planet.getSnapshot().value).toEqual({ busy: 'reporting' });
    expect(steps.given.at(-1)).toMatchObject(['report', { root: '/repo' }]);
    await steps.end('report', ANSWER);
    expect(said).toEqual([['reply', ANSWER]]);
    expect(planet.getSnapshot().value).toBe('waiting');
  });

  it('declines when there is nothing that it can report', async () => {
    const { planet, ask } = start(aboutMission());
    ask();
    await steps.end('open', '/repo');
    const error = new Error('planted');
    await steps.fail('report', error);
    expect(said).toEqual([['fail', error]]);
    expect(planet.getSnapshot().value).toBe('waiting');
  });
});
