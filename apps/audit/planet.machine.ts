import type { HandlingContext } from 'orrery';
import { type AnyEventObject, assign, fromCallback, fromPromise, setup } from 'xstate';
import type { AuditAnswer, AuditRequest } from './audit-answer.ts';
import type { RepositoryFiles } from './list-repository.ts';
import type { ToolOutcome } from './run-tool.ts';

/** A planet's task in hand. */
export interface PlanetJob {
  readonly request: AuditRequest;
  readonly ctx: HandlingContext;
}

/** - `outcomes` of the tools that have run, in their order. */
export interface PlanetContext {
  readonly job: PlanetJob | undefined;
  /** The repository, by its real path. */
  readonly root: string | undefined;
  readonly listed: RepositoryFiles | undefined;
  readonly outcomes: readonly ToolOutcome[];
  readonly answer: AuditAnswer | undefined;
}

/** What a step is given: the task, and what is known by now. */
export interface PlanetStep {
  readonly job: PlanetJob;
  readonly root: string;
  readonly listed: RepositoryFiles;
  readonly outcomes: readonly ToolOutcome[];
}

/** - `tool` by its name. */
export interface ToolStep extends PlanetStep {
  readonly tool: string;
}

/** A planet by its id, and the capability that it is asked for. */
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

/** Each step is invoked when there is a job, and what the steps before it have found. */
const stepOf = ({ context }: { context: PlanetContext }): PlanetStep => {
  const { job, root, listed, outcomes } = context;
  return { job, root, listed, outcomes } as PlanetStep;
};

/** Filled by `.provide()`, in `planet.ts`. */
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

/** What all planets have in common: they wait, answer or refuse, and leave what is cut off. */
const waitingFor = (capability: string) =>
  ({ tags: 'ready', entry: 'forget', on: { [capability]: { target: 'busy', actions: 'takeJob' } } }) as const;
const ENDINGS = {
  answering: { entry: 'answer', always: 'waiting' },
  refusing: { entry: 'refuse', always: 'waiting' },
  cutOff: { entry: 'settle', always: 'waiting' },
} as const;
const CUT_OFF = {
  invoke: { src: 'watchForCutOff', input: stepOf },
  on: { 'work.cut-off': 'cutOff' },
} as const;

/** A state in which one step is done, and where it leads. */
const invoking = <const Src extends string, const Target extends string, const Action extends string>(
  src: Src,
  onDone: { readonly target: Target; readonly actions: Action },
  onError: string,
) => ({ invoke: { src, input: stepOf, onDone, onError } });

/**
 * The work of a planet with tools: it waits to be asked, opens the repository and lists its files, is at work with its tools,
 * each a state, checks what they found, and answers. When the task is cancelled or its time is over, it is cut off: whatever
 * runs for it ends. One task at a time.
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
 * The work of a planet that reports on the mission itself: it opens the repository, makes its report of what the other tasks
 * came to, and answers. Like the others it can be cut off, and does one task at a time.
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
