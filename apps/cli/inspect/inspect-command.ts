import { nearest } from '@orrery/ralph-loop';
import {
  type Conversation,
  conversationIdOf,
  conversationOf,
  sequenceMermaid,
  sequenceSvg,
  shownText,
  statechartMermaid,
  statechartSvg,
  type TraceHeader,
  TraceReader,
  type WatchedEvent,
} from '@orrery/visualiser/model';
import { type CommandDeps, EXIT_UNWRITTEN } from '../command.ts';
import type { TypedOptions } from '../run-plan.ts';
import { sceneJson } from '../scene-json.ts';
import { snapshotLines } from '../team-lines.ts';
import { shownOf } from '../team-rows.ts';
import { UsageError } from '../usage-error.ts';
import { agentStoryLines } from './agent-lines.ts';
import { AgentStory } from './agent-story.ts';
import { conversationLines } from '../conversation-lines.ts';
import { drawnMachine } from './drawn-machine.ts';
import { type InspectPlan, planInspect, type Question } from './inspect-plan.ts';
import { isOver } from './moment.ts';
import { readTrace } from './read-trace.ts';
import { runLines } from './run-lines.ts';
import { RunTally } from './run-tally.ts';

/** The exit code for a trace that is broken, or is none. */
const EXIT_BROKEN = 1;
const MOST_EVENTS_OF_ONE = 20_000;
const MOST_FAULTS = 10;
/** How wide lines are where nobody says it. */
const PIPE_COLUMNS = 110;

/**
 * Runs `orrery inspect`: says what a recorded run did, or draws a part of it. Resolves to the exit code, 1 for a trace of which
 * something could not be read; the rest is shown.
 */
export async function inspectCommand(
  options: TypedOptions,
  positionals: readonly string[],
  deps: CommandDeps,
): Promise<number> {
  const plan = planInspect(options, positionals);
  try {
    const read = await readRun(plan, deps);
    if (deps.interruption.signal.aborted) return deps.interruption.exitCode;
    const isHeard = read.reader.events > 0;
    if (isHeard) await answer(plan, read, deps);
    const isWhole = tellFaults(plan, read, deps);
    const failure = plan.out?.failure;
    if (failure !== undefined) {
      deps.errors.write(`orrery: The drawing could not be written to ${plan.out?.path}: ${failure}\n`);
      return EXIT_UNWRITTEN;
    }
    return isWhole && isHeard ? 0 : EXIT_BROKEN;
  } finally {
    plan.out?.discard();
  }
}

/** What was read of a trace. */
interface ReadRun {
  readonly reader: TraceReader;
  readonly header: TraceHeader | undefined;
  readonly tally: RunTally;
  readonly story: AgentStory | undefined;
  readonly conversation: Gathered | undefined;
}

/** The events of one conversation. */
class Gathered {
  readonly #id: string;
  readonly #events: WatchedEvent[] = [];
  #leftOut = 0;

  constructor(id: string) {
    this.#id = id;
  }

  take(event: WatchedEvent): void {
    if (conversationIdOf(event) !== this.#id) return;
    if (this.#events.length < MOST_EVENTS_OF_ONE) this.#events.push(event);
    else this.#leftOut += 1;
  }

  /** The conversation; undefined if nothing of it was heard. */
  get whole(): Conversation | undefined {
    return this.#events.length === 0 ? undefined : conversationOf(this.#id, this.#events, this.#leftOut);
  }
}

/** Reads the trace once, to its end or to the moment that is asked for, keeping only what the question needs. */
async function readRun({ path, question, moment }: InspectPlan, deps: CommandDeps): Promise<ReadRun> {
  const { kind } = question;
  const story = kind === 'agent' ? new AgentStory(question.id) : undefined;
  const conversation = kind === 'conversation' || kind === 'sequence' ? new Gathered(question.id) : undefined;
  let header: TraceHeader | undefined;
  let tally = new RunTally();
  let atMs = 0;
  let isEnough = moment?.kind === 'events' && moment.count === 0;
  const reader = new TraceReader({
    header: (found) => {
      header = found;
      tally = new RunTally(found);
    },
    event: (event) => {
      atMs = Math.max(atMs, event.timestamp);
      const startedAtMs = header?.startedAtMs ?? tally.firstMs ?? event.timestamp;
      const { events } = tally.scene.totals;
      if (isEnough || (moment !== undefined && isOver(moment, { events, atMs, startedAtMs }))) {
        isEnough = true;
        return;
      }
      tally.take(event);
      story?.take(event);
      conversation?.take(event);
    },
  });
  const { signal } = deps.interruption;
  await readTrace(path, reader, { signal, isEnough: () => isEnough });
  return { reader, header, tally, story, conversation };
}

async function answer(plan: InspectPlan, read: ReadRun, deps: CommandDeps): Promise<void> {
  const { question, isJson, out } = plan;
  if (question.kind === 'sequence' || question.kind === 'machine') {
    const text = await drawing(question, read, deps);
    if (out === undefined) deps.screen.write(text);
    else {
      out.write(text);
      out.commit();
    }
    return;
  }
  const text = isJson
    ? `${JSON.stringify(jsonOf(question, read), null, 2)}\n`
    : `${linesOf(question, read, deps).join('\n')}\n`;
  deps.screen.write(text);
}

type Told = Exclude<Question, { readonly kind: 'sequence' | 'machine' }>;

function linesOf(
  question: Told,
  { tally, header, story, conversation }: ReadRun,
  { screen }: CommandDeps,
): string[] {
  const { scene } = tally;
  switch (question.kind) {
    case 'run':
      return runLines(tally, header);
    case 'scene': {
      const columns = screen.isTerminal ? screen.columns : PIPE_COLUMNS;
      return snapshotLines(shownOf(scene), { columns, paint: screen.paint });
    }
    case 'conversation':
      return conversationLines(wholeOf(question.id, conversation, tally));
    case 'agent':
      return agentStoryLines(agentOf(question.id, tally), story ?? new AgentStory(question.id), scene);
  }
}

function jsonOf(question: Told, { tally, header, story, conversation, reader }: ReadRun): object {
  const { scene, mishaps, longestWaits, conversations } = tally;
  const faults = { faults: reader.faults, leftOutLines: reader.leftOut };
  switch (question.kind) {
    case 'run': {
      const at = sceneJson(scene);
      return {
        ...(header?.seed === undefined ? {} : { seed: header.seed }),
        ...at,
        mishaps,
        longestWaits,
        conversations: conversations.slice(0, 100),
        ...faults,
      };
    }
    case 'scene':
      return { ...sceneJson(scene), ...faults };
    case 'conversation':
      return { ...wholeOf(question.id, conversation, tally), ...faults };
    case 'agent': {
      const { owner: _owner, perSecond: _perSecond, second: _second, ...agent } = agentOf(question.id, tally);
      return {
        ...agent,
        story: [...(story?.first ?? []), ...(story?.last ?? [])],
        leftOut: story?.leftOut ?? 0,
        ...faults,
      };
    }
  }
}

async function drawing(
  question: Question & { kind: 'sequence' | 'machine' },
  { tally, header, conversation }: ReadRun,
  { errors }: CommandDeps,
): Promise<string> {
  if (question.kind === 'sequence') {
    const whole = wholeOf(question.id, conversation, tally, '--sequence');
    return question.as === 'svg' ? sequenceSvg(whole) : sequenceMermaid(whole);
  }
  if (question.agentId !== undefined) agentOf(question.agentId, tally);
  const { drawing: machine, actors } = await drawnMachine(tally.scene, header, question);
  const [active, ...others] = actors;
  const of = active?.agentId === undefined ? '' : ` of ${active.agentId}`;
  const more = others.length === 0 ? '' : `; there are ${others.length} more of this machine`;
  errors.write(
    active === undefined
      ? 'orrery: No such machine had taken a step: no state is marked\n'
      : `orrery: Marked is the state of ${shownText(`${active.actorId}${of}: ${active.state}`)}${more}\n`,
  );
  const state = active?.state;
  return question.as === 'svg' ? statechartSvg(machine, state) : statechartMermaid(machine, state);
}

function wholeOf(
  id: string,
  gathered: Gathered | undefined,
  { conversations }: RunTally,
  option = '--conversation',
): Conversation {
  const whole = gathered?.whole;
  if (whole !== undefined) return whole;
  const meant = nearest(
    id,
    conversations.map((one) => one.id),
  );
  const hint = meant === undefined ? '' : `; did you mean "${shownText(meant)}"?`;
  throw new UsageError(`Option "${option}" is "${id}": the trace tells of no such conversation${hint}`);
}

function agentOf(id: string, { scene }: RunTally) {
  const agent = scene.agents.get(id);
  if (agent !== undefined) return agent;
  const ids = [...scene.agents.keys()];
  const meant = nearest(id, ids);
  const hint = meant === undefined ? '' : `; did you mean "${shownText(meant)}"?`;
  throw new UsageError(`Option "--agent" is "${id}": the trace tells of no such agent${hint}`);
}

/** Says what could not be read of the trace; returns whether all of it could. */
function tellFaults({ path }: InspectPlan, { reader }: ReadRun, { errors }: CommandDeps): boolean {
  const { faults, leftOut, events } = reader;
  for (const { text } of faults.slice(0, MOST_FAULTS))
    errors.write(`orrery: ${shownText(`${path}: ${text}`, 400)}\n`);
  const more = faults.length - MOST_FAULTS;
  if (more > 0)
    errors.write(`orrery: and ${leftOut > faults.length ? leftOut - MOST_FAULTS : more} more such lines\n`);
  if (events === 0 && faults.length === 0)
    errors.write(`orrery: ${shownText(path, 400)}: no event is in it\n`);
  return faults.length === 0;
}
