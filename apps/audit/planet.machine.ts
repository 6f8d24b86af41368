import type { HandlingContext } from 'orrery';
import { type AnyEventObject, assign, fromCallback, fromPromise, setup } from 'xstate';
import type { AuditAnswer, AuditRequest } from './audit-answer.ts';
import type { RepositoryFiles } from './list-repository.ts';
import type { ToolOutcome } from './run-tool.ts';

/** The task that a planet works at. */
export interface PlanetJob {
  readonly request: AuditRequest;
  readonly ctx: HandlingContext;
}

/** The context of a planet's machine. `outcomes` are those of the tools that have run, in order. */
export interface PlanetContext {
  readonly job: PlanetJob | undefined;
  /** The real path of the repository. */
  readonly root: string | undefined;
  readonly listed: RepositoryFiles | undefined;
  readonly outcomes: readonly ToolOutcome[];
  readonly answer: AuditAnswer | undefined;
}

/** The input of a step: the task, and the results of earlier steps. */
export interface PlanetStep {
  readonly job: PlanetJob;
  readonly root: string;
  readonly listed: RepositoryFiles;
  readonly outcomes: readonly ToolOutcome[];
}

/** The input of a tool's step. `tool` is its name. */
export interface ToolStep extends PlanetStep {
  readonly tool: string;
}

/** The id of a planet, and its capability. */
export interface PlanetRole {
  readonly id: string;
  readonly capability: string;
}

const IDLE: PlanetContext = {
  job: undefined,
  root: undefined,
  listed: undefined,
  outcomes: [],
  answer: undefined,
};

/** The input of a step. The machine invokes it only once everything in it is set. */
const stepOf = ({ context }: { context: PlanetContext }): PlanetStep => {
  const { job, root, listed, outcomes } = context;
  return { job, root, listed, outcomes } as PlanetStep;
};

/** Stands for a step until `planet.ts` provides it. */
const unfilled = (): never => {
  throw new Error('the step is not provided');
};

const planetSetup = setup({
  types: { context: {} as PlanetContext, events: {} as AnyEventObject },
  actors: {
    open: fromPromise<string, PlanetStep>(unfilled),
    list: fromPromise<RepositoryFiles, PlanetStep>(unfilled),
    runTool: fromPromise<ToolOutcome, ToolStep>(unfilled),
    check: fromPromise<AuditAnswer, PlanetStep>(unfilled),
    report: fromPromise<AuditAnswer, PlanetStep>(unfilled),
    watchForCutOff: fromCallback<AnyEventObject, PlanetStep>(({ input: { job }, sendBack }) => {
      const { signal } = job.ctx;
      const tell = (): void => sendBack({ type: 'work.cut-off' });
      signal.addEventListener('abort', tell, { once: true });
      if (signal.aborted) tell();
      return () => signal.removeEventListener('abort', tell);
    }),
  },
  actions: {
    takeJob: assign(({ event }) => ({ ...IDLE, job: { request: event['input'], ctx: event['ctx'] } })),
    keepRoot: assign(({ event }) => ({ root: event['output'] as string })),
    keepListing: assign(({ event }) => ({ listed: event['output'] as RepositoryFiles })),
    keepOutcome: assign(({ context, event }) => ({
      outcomes: [...context.outcomes, event['output'] as ToolOutcome],
    })),
    keepAnswer: assign(({ event }) => ({ answer: event['output'] as AuditAnswer })),
    answer: ({ context }) => context.job?.ctx.reply(context.answer),
    refuse: ({ context, event }) => context.job?.ctx.fail(event['error']),
    settle: ({ context }) => context.job?.ctx.settle(),
    forget: assign(IDLE),
  },
});

/** The state of a planet without a task. */
const waitingFor = (capability: string) =>
  ({ tags: 'ready', entry: 'forget', on: { [capability]: { target: 'busy', actions: 'takeJob' } } }) as const;
/** The states in which a planet ends a task. */
const ENDINGS = {
  answering: { entry: 'answer', always: 'waiting' },
  refusing: { entry: 'refuse', always: 'waiting' },
  cutOff: { entry: 'settle', always: 'waiting' },
} as const;
/** Leaves the work when its task is cancelled or times out. */
const CUT_OFF = {
  invoke: { src: 'watchForCutOff', input: stepOf },
  on: { 'work.cut-off': 'cutOff' },
} as const;

/** A state that invokes one step. */
const invoking = <const Src extends string, const Target extends string, const Action extends string>(
  src: Src,
  onDone: { readonly target: Target; readonly actions: Action },
  onError: string,
) => ({ invoke: { src, input: stepOf, onDone, onError } });

/**
 * The machine of a planet with tools, for one task at a time. It opens the repository, lists its files, runs its tools, each
 * in a state, checks their findings, and answers. If the task is cancelled or times out, all that runs for it is ended.
 */
export function planetMachine({ id, capability }: PlanetRole, tools: readonly string[]) {
  const refusing = `#${id}.refusing`;
  const atWork = tools.map((tool, at) => {
    const next = tools[at + 1];
    const onDone = { target: next ?? `#${id}.busy.checking`, actions: 'keepOutcome' } as const;
    const input = (known: { context: PlanetContext }): ToolStep => ({ ...stepOf(known), tool });
    return [tool, { invoke: { src: 'runTool', input, onDone, onError: refusing } as const }] as const;
  });
  return planetSetup.createMachine({
    id,
    context: IDLE,
    initial: 'waiting',
    states: {
      waiting: waitingFor(capability),
      busy: {
        ...CUT_OFF,
        initial: 'opening',
        states: {
          opening: invoking('open', { target: 'listing', actions: 'keepRoot' }, refusing),
          listing: invoking('list', { target: 'atWork', actions: 'keepListing' }, refusing),
          atWork: { initial: tools[0] as string, states: Object.fromEntries(atWork) },
          checking: invoking('check', { target: `#${id}.answering`, actions: 'keepAnswer' }, refusing),
        },
      },
      ...ENDINGS,
    },
  });
}

/**
 * The machine of a planet that reports on the mission itself, for one task at a time. It opens the repository, makes a report
 * from the results of other tasks, and answers. It can be cut off like the others.
 */
export function missionPlanetMachine({ id, capability }: PlanetRole) {
  const refusing = `#${id}.refusing`;
  return planetSetup.createMachine({
    id,
    context: IDLE,
    initial: 'waiting',
    states: {
      waiting: waitingFor(capability),
      busy: {
        ...CUT_OFF,
        initial: 'opening',
        states: {
          opening: invoking('open', { target: 'reporting', actions: 'keepRoot' }, refusing),
          reporting: invoking('report', { target: `#${id}.answering`, actions: 'keepAnswer' }, refusing),
        },
      },
      ...ENDINGS,
    },
  });
}
