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

/** A repository, by its real path, and its files. */
export interface Listed extends RepositoryFiles {
  readonly root: string;
}

/** - `outcomes` of the tools that have run, in their order. */
export interface PlanetContext {
  readonly job: PlanetJob | undefined;
  readonly listed: Listed | undefined;
  readonly outcomes: readonly ToolOutcome[];
  readonly answer: AuditAnswer | undefined;
}

/** What a step is given: the task, and what is known by now. */
export interface PlanetStep {
  readonly job: PlanetJob;
  readonly listed: Listed;
  readonly outcomes: readonly ToolOutcome[];
}

const IDLE: PlanetContext = { job: undefined, listed: undefined, outcomes: [], answer: undefined };

/** Steps are invoked when there is a job, and all but the first when the repository is listed. */
const stepOf = ({ context }: { context: PlanetContext }): PlanetStep =>
  ({ job: context.job, listed: context.listed, outcomes: context.outcomes }) as PlanetStep;

/** Filled by `.provide()`, in `planet.ts`. */
const unfilled = (): never => {
  throw new Error('the step is not provided');
};

const planetSetup = setup({
  types: { context: {} as PlanetContext, events: {} as AnyEventObject },
  actors: {
    list: fromPromise<Listed, PlanetStep>(unfilled),
    runTool: fromPromise<ToolOutcome, PlanetStep>(unfilled),
    check: fromPromise<AuditAnswer, PlanetStep>(unfilled),
    watchForCutOff: fromCallback<AnyEventObject, PlanetStep>(({ input: { job }, sendBack }) => {
      const { signal } = job.ctx;
      const tell = (): void => sendBack({ type: 'work.cut-off' });
      signal.addEventListener('abort', tell, { once: true });
      if (signal.aborted) tell();
      return () => signal.removeEventListener('abort', tell);
    }),
  },
  guards: { isToolLeft: unfilled as () => boolean },
  actions: {
    takeJob: assign(({ event }) => ({ ...IDLE, job: { request: event['input'], ctx: event['ctx'] } })),
    keepListing: assign(({ event }) => ({ listed: event['output'] as Listed })),
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

/**
 * A planet's work: it waits to be asked `capability`, lists the repository, runs its tools on it one after the other, checks
 * what they found, and answers. When the task is cancelled or its time is over, whatever runs for it ends. One task at a time.
 */
export const planetMachine = (capability: string) =>
  planetSetup.createMachine({
    id: 'planet',
    context: IDLE,
    initial: 'waiting',
    states: {
      waiting: {
        tags: 'ready',
        entry: 'forget',
        on: { [capability]: { target: 'busy', actions: 'takeJob' } },
      },
      busy: {
        invoke: { src: 'watchForCutOff', input: stepOf },
        on: { 'work.cut-off': 'cutOff' },
        initial: 'listing',
        states: {
          listing: {
            invoke: {
              src: 'list',
              input: stepOf,
              onDone: { target: 'choosing', actions: 'keepListing' },
              onError: '#planet.refusing',
            },
          },
          choosing: { always: [{ guard: 'isToolLeft', target: 'atWork' }, { target: 'checking' }] },
          atWork: {
            invoke: {
              src: 'runTool',
              input: stepOf,
              onDone: { target: 'choosing', actions: 'keepOutcome' },
              onError: '#planet.refusing',
            },
          },
          checking: {
            invoke: {
              src: 'check',
              input: stepOf,
              onDone: { target: '#planet.answering', actions: 'keepAnswer' },
              onError: '#planet.refusing',
            },
          },
        },
      },
      answering: { entry: 'answer', always: 'waiting' },
      refusing: { entry: 'refuse', always: 'waiting' },
      cutOff: { entry: 'settle', always: 'waiting' },
    },
  });
