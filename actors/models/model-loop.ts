import {
  budgetExceeded,
  deadlineExceeded,
  isOrreryError,
  type OrreryError,
  refused,
} from '../../runtime/protocol/errors.ts';
import { type HandlingContext, clientOf } from '../../runtime/public.ts';
import type { OfferedTool } from './call-model.ts';
import { cutText } from './cut-text.ts';
import { instructionsOf, type ModelTask, readAnswer } from './model-capability.ts';
import { type CallTerms, ModelCalls } from './model-calls.ts';
import type { ModelReply } from './model-reply.ts';
import type { ModelLoopSettings } from './model-agent-options.ts';
import { costOf, type Tokens } from './prices.ts';
import { Progress } from './progress.ts';
import { recall } from './recall.ts';
import type { ConversationTurn } from './conversation.ts';
import { TaskOfTools } from './task-pause.ts';
import type { CalledTools, ToolBox } from './tool-box.ts';
import {
  lastAfter,
  leastCall,
  type PlannedCall,
  planCall,
  planLastCall,
  type PlanningFacts,
} from './turn-plan.ts';
import { CallBudget } from './call-budget.ts';

export interface ModelLoopDeps {
  readonly settings: ModelLoopSettings;
  readonly task: ModelTask;
  /** Undefined for an agent without tools. */
  readonly tools: ToolBox | undefined;
  /** Called with the text as it comes. */
  readonly onText: (text: string) => void;
}

/** Why the model is asked for the last time: what it is told, and the error if it has no answer. */
interface Ending {
  readonly because: string;
  readonly error: OrreryError;
}

type UserTurn = Extract<ConversationTurn, { readonly by: 'user' }>;

/** The share of the time that is kept for the last call, at most. */
const LAST_SHARE = 0.25;
const MAX_RESUMED = 8_000;

/** The work of a model on one envelope: calls of the model and of its tools, until there is an answer that fits. */
export class ModelLoop {
  readonly #deps: ModelLoopDeps;
  readonly #ctx: HandlingContext<never>;
  readonly #budget: CallBudget;
  readonly #calls: ModelCalls;
  readonly #progress: Progress;
  readonly #taskOfTools: TaskOfTools | undefined;
  readonly #deadlineAtMs: number;
  /** After this only the last call is begun. */
  readonly #lastAtMs: number;
  readonly #out = new AbortController();
  /** Aborts when nobody wants an answer any more. */
  readonly #left = new AbortController();
  readonly #instructions: string;
  #said: ConversationTurn[] = [];
  #steps = 0;
  #wrong = 0;
  /** Whether text was streamed, in a former call or in this one. */
  #told: 'nothing' | 'before' | 'now' = 'nothing';

  constructor(deps: ModelLoopDeps, ctx: HandlingContext<never>) {
    this.#deps = deps;
    this.#ctx = ctx;
    const { settings, task } = deps;
    const { limits, model, prices } = settings;
    this.#budget = new CallBudget(ctx, prices);
    this.#calls = new ModelCalls({ ctx, model, budget: this.#budget, limits });
    this.#progress = new Progress(ctx, limits.maxSteps);
    this.#taskOfTools = deps.tools === undefined ? undefined : TaskOfTools.of(ctx);
    const nowMs = ctx.now();
    this.#deadlineAtMs = ctx.envelope.metadata?.deadlineAtMs ?? nowMs + settings.handlingTimeoutMs;
    const kept = Math.min(limits.lastCallMs, LAST_SHARE * Math.max(0, this.#deadlineAtMs - nowMs));
    this.#lastAtMs = this.#deadlineAtMs - kept;
    this.#instructions = instructionsOf(settings.instructions, task);
  }

  /**
   * The answer, as the capability's handler returns it.
   *
   * Rejects with REFUSED naming the fault when no answer fits, or none comes in so many steps; BUDGET_EXCEEDED and
   * DEADLINE_EXCEEDED when nothing can be said any more; INPUT_REQUIRED when a tool asks the owner of the task; and what
   * `ModelCalls.ask` rejects with.
   */
  async answer(input: unknown): Promise<unknown> {
    const cancel =
      this.#deps.tools === undefined
        ? undefined
        : later(this.#ctx, Math.max(0, this.#lastAtMs - this.#ctx.now()), () => this.#out.abort());
    try {
      await this.#begin(input);
      return await this.#think();
    } finally {
      cancel?.();
      this.#letGo();
    }
  }

  /** Ends the work, and aborts calls that are under way. */
  stop(): void {
    this.#left.abort();
  }

  async #begin(input: unknown): Promise<void> {
    const resumed = this.#taskOfTools?.resumed;
    if (resumed === undefined) {
      this.#said = [await this.#firstTurn(input)];
      return;
    }
    const { said, results, waiting, steps } = resumed;
    this.#said = [...said];
    this.#steps = steps;
    const called = await this.#call(waiting);
    this.#take({ paused: called.paused, results: [...results, ...called.results] });
  }

  /** The first turn: the work, and what is remembered behind it, for what is too long is cut at its end. */
  async #firstTurn(input: unknown): Promise<ConversationTurn> {
    const { task, settings } = this.#deps;
    const prompt = task.promptOf(input);
    const work = workOf(prompt, this.#ctx.resumeFrom);
    const { memory } = settings;
    if (memory === undefined) return work;
    const terms = { prompt, memory, deadlineAtMs: this.#deadlineAtMs, signal: this.#left.signal };
    const remembered = await recall(this.#ctx, terms);
    if (remembered === '') return work;
    const whole: UserTurn = { by: 'user', text: `${work.text}\n\n${remembered}` };
    // Work that can be paid without it is done without it.
    if (this.#affordable(this.#facts([whole])) !== undefined) return whole;
    this.#ctx.progress(0, 'nothing is recalled: the budget has too little for it');
    return work;
  }

  async #think(): Promise<unknown> {
    for (;;) {
      this.#ctx.signal.throwIfAborted();
      const ending = this.#ending();
      if (ending !== undefined) return this.#last(ending);
      const call = this.#plan();
      if (call === undefined) return this.#last(this.#outOfBudget());
      this.#steps += 1;
      const reply = await this.#ask(call);
      if (reply === undefined) return this.#last(this.#outOfTime());
      if (reply.text !== '' || reply.calls.length > 0)
        this.#said.push({ by: 'model', text: reply.text, calls: reply.calls });
      if (reply.calls.length > 0) {
        this.#take(await this.#call(reply.calls));
        continue;
      }
      const read = this.#read(reply);
      if ('answer' in read) return read.answer;
      this.#correct(read.fault);
    }
  }

  /** Undefined when the call was aborted because time is short. Throws BUDGET_EXCEEDED before anything is sent. */
  async #ask(call: PlannedCall): Promise<ModelReply | undefined> {
    const { tools } = this.#deps;
    const mayEnd = tools !== undefined && this.#steps > 1;
    this.#progress.thinks(this.#steps);
    this.#startParagraph();
    try {
      return await this.#askModel(call, tools?.offered ?? [], {
        fromHeld: false,
        untilMs: mayEnd ? this.#lastAtMs : this.#deadlineAtMs,
        signal: mayEnd ? AbortSignal.any([this.#left.signal, this.#out.signal]) : this.#left.signal,
      });
    } catch (error) {
      const isOver = this.#ctx.signal.aborted || this.#left.signal.aborted;
      if (isOver || !mayEnd || !this.#out.signal.aborted) throw error;
      return undefined;
    }
  }

  #askModel(
    { said, maxOutputTokens, estimate }: PlannedCall,
    tools: readonly OfferedTool[],
    terms: Pick<CallTerms, 'fromHeld' | 'untilMs' | 'signal'>,
  ): Promise<ModelReply> {
    const { settings: all, task } = this.#deps;
    const { model, settings, streams } = all;
    const answer = model.holdsToSchemas ? task.schema : undefined;
    const asked = {
      instructions: this.#instructions,
      said,
      tools,
      answer,
      maxOutputTokens,
      settings,
      streams,
    };
    return this.#calls.ask(asked, { ...terms, estimate, onText: this.#hear });
  }

  readonly #hear = (text: string): void => {
    this.#progress.says(text);
    this.#deps.onText(this.#told === 'before' ? `\n\n${text}` : text);
    this.#told = 'now';
  };

  #startParagraph(): void {
    if (this.#told === 'now') this.#told = 'before';
  }

  async #call(calls: ModelReply['calls']): Promise<CalledTools> {
    const { tools } = this.#deps;
    if (tools === undefined) return { results: calls.map(notThere), paused: [] };
    this.#progress.calls(this.#steps, calls);
    return tools.call(calls, {
      deadlineAtMs: this.#lastAtMs,
      signal: this.#left.signal,
      along: (call, tool) => this.#taskOfTools?.along(call, tool) ?? {},
      mayPause: this.#taskOfTools !== undefined,
    });
  }

  #take(called: CalledTools): void {
    if (called.paused.length > 0) this.#taskOfTools?.pause(this.#steps, this.#said, called);
    this.#taskOfTools?.answered();
    this.#said.push({ by: 'tools', results: [...called.results] });
  }

  /** The reply without calls: an answer, or why it is none. */
  #read(reply: ModelReply): ReturnType<typeof readAnswer> {
    const { task } = this.#deps;
    if (reply.finish === 'filter')
      throw refused(`The provider of ${this.#modelName} withheld the answer`, { agentId: this.#ctx.self });
    const read = readAnswer(task, reply.text, this.#ctx.self);
    if ('answer' in read || reply.finish !== 'length') return read;
    return { fault: `the answer was cut off at the most that one may be; ${read.fault}` };
  }

  #correct(fault: string): void {
    this.#wrong += 1;
    const { limits } = this.#deps.settings;
    if (this.#wrong >= limits.answerAttempts) throw this.#unfit(fault);
    this.#said.push({
      by: 'user',
      text: `That cannot be used: ${fault}. Answer again, with that put right.`,
    });
    this.#progress.corrects(fault);
  }

  #unfit(fault: string): OrreryError {
    const { id } = this.#deps.task.capability;
    const times = this.#wrong === 1 ? 'once' : `${this.#wrong} times`;
    return refused(`${this.#modelName} answered "${id}" ${times}, and nothing that fits: ${fault}`, {
      agentId: this.#ctx.self,
      capability: id,
      issues: fault,
      attempts: this.#wrong,
    });
  }

  // Endings

  #ending(): Ending | undefined {
    const { maxSteps } = this.#deps.settings.limits;
    if (this.#steps >= maxSteps) {
      const because = `this was step ${maxSteps} of ${maxSteps}`;
      return { because, error: refused(`${this.#ctx.self} has no answer after ${maxSteps} steps`) };
    }
    const isLate = this.#deps.tools !== undefined && this.#steps > 0 && this.#ctx.now() >= this.#lastAtMs;
    return isLate ? this.#outOfTime() : undefined;
  }

  #outOfTime(): Ending {
    const what = `The work of ${this.#ctx.self}`;
    const error = deadlineExceeded(what, Math.max(0, this.#deadlineAtMs - this.#ctx.now()));
    return { because: 'time is running out', error };
  }

  #outOfBudget(): Ending {
    const least = this.#budget.amountOf(leastCall(this.#facts(this.#said)).estimate);
    const { tokens, costUsd } = this.#ctx.budget;
    return {
      because: 'the budget is nearly used up',
      error: budgetExceeded(costOf(least), { tokens, costUsd }),
    };
  }

  /** The last call: no tools, and whatever there is handed back. */
  async #last({ because, error }: Ending): Promise<unknown> {
    this.#ctx.signal.throwIfAborted();
    const { limits } = this.#deps.settings;
    const text = `You cannot go on: ${because}. Answer now, with what you have. Say what is missing.`;
    const facts = {
      ...this.#facts([...this.#said, { by: 'user', text }], []),
      maxOutputTokens: limits.lastOutputTokens,
    };
    const call = planLastCall(facts, ({ estimate }) => this.#budget.canPay(estimate));
    if (call === undefined) throw error;
    this.#progress.ends(because);
    this.#startParagraph();
    const reply = await this.#askModel(call, [], {
      fromHeld: true,
      untilMs: this.#deadlineAtMs,
      signal: this.#left.signal,
    });
    const read = this.#read(reply);
    if ('answer' in read) return read.answer;
    if (reply.text.trim() === '') throw error;
    this.#wrong += 1;
    throw this.#unfit(read.fault);
  }

  // Money

  /** Undefined when the call cannot be paid, or would leave too little for the last one. */
  #plan(): PlannedCall | undefined {
    const facts = this.#facts(this.#said);
    const call = this.#affordable(facts);
    if (this.#deps.tools === undefined) return call ?? leastCall(facts);
    if (call === undefined) return undefined;
    try {
      this.#budget.reserve(this.#lastAfter(facts, call));
      return call;
    } catch (error) {
      if (isOrreryError(error) && error.code === 'BUDGET_EXCEEDED') return undefined;
      throw error;
    }
  }

  /** The call that can be paid; where there are tools, together with the last one after it. */
  #affordable(facts: PlanningFacts): PlannedCall | undefined {
    const hasLast = this.#deps.tools !== undefined;
    return planCall(facts, (call) =>
      this.#budget.canPay(call.estimate, ...(hasLast ? [this.#lastAfter(facts, call)] : [])),
    );
  }

  #lastAfter(facts: PlanningFacts, call: PlannedCall): Tokens {
    return lastAfter(facts, call, this.#deps.settings.limits.lastOutputTokens);
  }

  #facts(said: readonly ConversationTurn[], tools = this.#deps.tools?.offered ?? []): PlanningFacts {
    const { limits, countTokens: count } = this.#deps.settings;
    const fixedTokens = count(this.#instructions) + (tools.length === 0 ? 0 : count(JSON.stringify(tools)));
    const { maxContextTokens, maxOutputTokens } = limits;
    return { said, fixedTokens, maxContextTokens, maxOutputTokens, count };
  }

  /** Gives back what was reserved for the last call. */
  #letGo(): void {
    this.#budget.reserve(undefined);
  }

  get #modelName(): string {
    return this.#deps.settings.model.name;
  }
}

function workOf(prompt: string, resumeFrom: unknown): UserTurn {
  if (resumeFrom === undefined) return { by: 'user', text: prompt };
  const left = cutText(JSON.stringify(resumeFrom) ?? '', MAX_RESUMED);
  return { by: 'user', text: `${prompt}\n\nAn earlier attempt at this was cut off. It left:\n${left}` };
}

const notThere = ({ id, name }: ModelReply['calls'][number]) => ({
  id,
  name,
  text: JSON.stringify({ code: 'TOOL_NOT_FOUND', message: `There is no tool "${name}"` }),
  isError: true,
});

/** Calls `fire` after `ms`, unless the returned function is called before. */
function later(ctx: HandlingContext<never>, ms: number, fire: () => void): () => void {
  const clock = clientClock(ctx);
  if (clock !== undefined) return clock.setTimer(ms, fire);
  let isCancelled = false;
  ctx.sleep(ms).then(
    () => (isCancelled ? undefined : fire()),
    () => undefined,
  );
  return () => {
    isCancelled = true;
  };
}

/** A clock of the agent's client. An agent in a process of its own has no client: it sleeps instead. */
function clientClock(ctx: HandlingContext<never>) {
  try {
    return clientOf(ctx).seams.clock;
  } catch {
    return undefined;
  }
}
