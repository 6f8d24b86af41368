import type { AskOptions, Progress, Target, TellOptions } from '../agent/context.ts';
import { declaredElsewhere } from '../agent/declared-elsewhere.ts';
import type { Handling } from '../cell/handling.ts';
import type { Cost } from '../protocol/budget.ts';
import { notPermitted } from '../protocol/edge-errors.ts';
import { errorToData, mailboxFull, notSerialisable, reasonOf } from '../protocol/errors.ts';
import type { Taint } from '../protocol/taint.ts';
import type { AgentProcess, WorkFrame } from './agent-process.ts';
import type { FrameTarget } from './child-frame.ts';
import type { Answer } from './host-frame.ts';

/** What the code of one process may wait for at a time. */
const MAX_OPEN = 1_024;
/** What a process may leave unread; beyond it nothing more is asked for it, and it is told of no progress. */
const MAX_BACKLOG_BYTES = 64 * 1024 * 1024;
/** Refusals in a row after which it is clear that nobody reads them. */
const MAX_UNREAD_REFUSALS = 10_000;
/** A process stands still for one answer at a time. */
const MAX_UNREAD_ANSWER_BYTES = 1024 * 1024;

const NOT_BELIEVED =
  'An agent in a process of its own declares nothing clean, unless `mayDeclareClean` says so';

type RequestFrame = WorkFrame & { t: 'ask' | 'read' | 'send' };
type CallFrame = WorkFrame & { t: 'call' };

/** Something that the code in the process waits for. */
interface Open {
  readonly frame: RequestFrame;
  readonly abort: AbortController;
  /** Chunks of a stream that may be sent. */
  credit: number;
  wake: () => void;
  /** What it was asked from is done with. */
  isOver: boolean;
}

/**
 * Does what the code in a process asks for, in the name of its agent: by the context of the envelope that it handles, and
 * so judged by the card that the agent is registered under.
 */
export class ProcessRequests {
  readonly #agentId: string;
  readonly #process: AgentProcess;
  readonly #mayDeclareClean: boolean;
  readonly #open = new Map<number, Open>();
  #refusals = 0;

  constructor(agentId: string, process: AgentProcess, mayDeclareClean: boolean) {
    this.#agentId = agentId;
    this.#process = process;
    this.#mayDeclareClean = mayDeclareClean;
  }

  /** Asks, reads or sends. Throws when the request makes no sense. */
  begin(frame: RequestFrame, ctx: Handling): void {
    const { a } = frame;
    if (this.#open.has(a)) throw new Error(`it waits twice under the number ${a}`);
    if (this.#open.size >= MAX_OPEN || this.#process.backlogBytes > MAX_BACKLOG_BYTES) {
      this.#refuse(frame);
      return;
    }
    this.#refusals = 0;
    const open: Open = {
      frame,
      abort: new AbortController(),
      credit: 0,
      wake: () => undefined,
      isOver: false,
    };
    this.#open.set(a, open);
    const answer = this.#perform(open, ctx).catch(
      (error: unknown): Answer => ({ kind: 'error', error: errorToData(error) }),
    );
    void answer.then((last) => {
      this.#open.delete(a);
      this.#answer(frame, last);
    });
  }

  /** The code does not wait any more. */
  cancel(a: number): void {
    this.#open.get(a)?.abort.abort();
    this.#open.get(a)?.wake();
  }

  /** The envelope under this number is done with: what its code did not read to the end nobody reads any more. */
  workOver(n: number): void {
    for (const open of this.#open.values()) {
      if (open.frame.n !== n) continue;
      open.isOver = true;
      open.wake();
    }
  }

  /** The code takes so many more chunks. */
  want(a: number, count: number): void {
    const open = this.#open.get(a);
    if (open === undefined) return;
    open.credit += count;
    open.wake();
  }

  /** Does what the code stands still for. Throws when the process does not. */
  call(frame: CallFrame, ctx: Handling): void {
    if (this.#process.unreadAnswerBytes > MAX_UNREAD_ANSWER_BYTES) throw new Error('it reads no answers');
    try {
      this.#process.answerCall({ value: performCall(frame, ctx, this.#mayDeclareClean) });
    } catch (error) {
      this.#process.answerCall({ error: errorToData(error) });
    }
  }

  async #perform(open: Open, ctx: Handling): Promise<Answer> {
    const { frame, abort } = open;
    const target = targetOf(frame.target);
    if (frame.t === 'send')
      return { kind: 'value', value: await ctx.tellWhenRoom(target, frame.input, frame.options) };
    const onProgress = (progress: Progress): void => {
      // Whoever is asked decides how much that is: a process that does not read it is spared it, and gets the answer.
      if (this.#process.backlogBytes <= MAX_BACKLOG_BYTES)
        this.#answer(frame, { kind: 'progress', progress });
    };
    const onTaint = (taint: Taint): void => this.#answer(frame, { kind: 'tainted', taint });
    const onSent = (id: string): void => this.#answer(frame, { kind: 'sent', id });
    const options: AskOptions = {
      ...frame.options,
      signal: abort.signal,
      ...(frame.isFollowed ? { onProgress, onTaint } : {}),
      ...(frame.isAnnounced ? { onSent } : {}),
    };
    if (frame.t === 'ask')
      return { kind: 'value', value: await ctx.ask(target as AskTarget, frame.input, options) };
    for await (const value of ctx.stream(target as AskTarget, frame.input, options)) {
      await creditOf(open);
      if (abort.signal.aborted || open.isOver) break;
      this.#answer(frame, { kind: 'chunk', value });
    }
    return { kind: 'end' };
  }

  #refuse(frame: RequestFrame): void {
    this.#refusals += 1;
    if (this.#refusals > MAX_UNREAD_REFUSALS) throw new Error('it asks on and on, and reads no answers');
    const error = mailboxFull(`The process of ${this.#agentId}`, MAX_OPEN);
    this.#answer(frame, { kind: 'error', error: errorToData(error) });
  }

  #answer({ a, target }: RequestFrame, answer: Answer): void {
    const isStructured = target.capability?.carries === 'structured';
    try {
      this.#process.write({ t: 'answer', a, ...answer }, isStructured);
    } catch (error) {
      const refusal = errorToData(notSerialisable('answer', reasonOf(error)));
      this.#process.write({ t: 'answer', a, kind: 'error', error: refusal });
    }
  }
}

type AskTarget = Target<unknown, unknown>;

/** Whoever sends looks at it as at a target of any agent. */
function targetOf({ agent, capability }: FrameTarget): string | AskTarget {
  if (capability === undefined) return agent as string;
  const declared = declaredElsewhere(capability.id, capability.carries);
  return agent === undefined ? declared : { agent, capability: declared };
}

async function creditOf(open: Open): Promise<void> {
  while (open.credit <= 0 && !open.abort.signal.aborted && !open.isOver) {
    await new Promise<void>((resolve) => {
      open.wake = resolve;
    });
  }
  open.credit -= 1;
}

function performCall(
  { what, target = {}, input, options = {} }: CallFrame,
  ctx: Handling,
  mayDeclareClean: boolean,
): unknown {
  switch (what) {
    case 'tell':
      return ctx.tell(targetOf(target), input, options as TellOptions);
    case 'spend':
      return ctx.spend(input as Cost);
    case 'refund':
      return ctx.refund(input as Cost);
    case 'checkpoint':
      return ctx.checkpoint(input);
    case 'budget':
      return ctx.budget;
    case 'resumeFrom':
      return ctx.resumeFrom;
    case 'taint':
      return ctx.taint;
    case 'markOutside':
      return ctx.markOutside(input as string);
    case 'declareClean':
      if (!mayDeclareClean) throw notPermitted(NOT_BELIEVED);
      return ctx.declareClean(input as string);
  }
}
