import { partialMetadata } from '../../runtime/protocol/a2a-extension.ts';
import type { Cost } from '../../runtime/protocol/budget.ts';
import type { Clock } from '../../runtime/protocol/seams.ts';
import { mergeTaint, type Taint } from '../../runtime/protocol/taint.ts';
import type { Artifact, TaskMessage } from '../../runtime/protocol/task.ts';
import type { Progress } from '../../runtime/public.ts';
import { ProgressSayer } from './progress-sayer.ts';
import type { Json } from './task-log.ts';
import { TaskReport } from './task-note.ts';
import type { Turn } from './turn.ts';
import type { TurnMemo } from './turn-memo.ts';
import { partsOf } from './turn-output.ts';

export interface TurnReportsDeps {
  readonly clock: Clock;
  readonly newId: () => string;
  readonly turn: Turn;
  /** What is remembered when the agent is asked. */
  readonly memo: TurnMemo;
}

/** Takes what an agent says while it works at a task, whether it knows of tasks or not. */
export class TurnReports {
  readonly #turn: Turn;
  readonly #newId: () => string;
  readonly #sayer: ProgressSayer;
  #memo: TurnMemo;
  #cost: Required<Cost> | undefined;
  /** Where what the agent told came from outside. */
  #taint: Taint | undefined;
  /** So many reports came before the next one, of which some were not kept. */
  #dropped = 0;

  constructor({ clock, newId, turn, memo }: TurnReportsDeps) {
    this.#turn = turn;
    this.#newId = newId;
    this.#memo = memo;
    this.#sayer = new ProgressSayer({ clock, newId, say: (message) => turn.working(message) });
  }

  /** What is remembered by now. */
  get memo(): TurnMemo {
    return this.#memo;
  }

  /** Where what the agent has told by now came from outside. */
  get taint(): Taint | undefined {
    return this.#taint;
  }

  /** What an agent tells whoever has asked it. */
  readonly hear = (progress: Progress): void => {
    const { partial, report, dropped } = progress;
    if (dropped !== undefined) this.#dropped = dropped;
    else if (report !== undefined) this.#take(report);
    else if (partial !== undefined) this.partial(partial);
    else this.#sayer.tell(progress);
  };

  /** What comes next came from outside, too. */
  readonly tainted = (taint: Taint): void => {
    this.#taint = mergeTaint(this.#taint, taint);
  };

  /** What was spent on it, if that was limited. */
  get cost(): Required<Cost> | undefined {
    return this.#cost;
  }

  readonly spent = (cost: Required<Cost>): void => {
    this.#cost = cost;
  };

  /** What its work has come to, for the case that it comes to nothing else. */
  partial(partial: unknown): void {
    const artifact = partialOf(this.#turn.number, partial);
    if (artifact !== undefined) this.#turn.partial(artifact);
  }

  /** What it told last is said before the turn ends. */
  end(): void {
    this.#sayer.end();
  }

  #take(report: unknown): void {
    const parsed = TaskReport.safeParse(report);
    if (!parsed.success) return;
    const { run, n, say, artifact, state, usedApproval } = parsed.data.task;
    const turn = this.#memo.turn ?? { number: this.#turn.number, reports: 0 };
    // What is told again says nothing new; and of what was told while nobody heard is told again. Another attempt begins anew.
    const heard = turn.run === run ? turn.reports : 0;
    const isGap = n > heard + 1 && n === this.#dropped + 1;
    if (n !== heard + 1 && !isGap) return;
    if (isGap)
      this.#turn.working(this.#said([{ text: `${n - 1 - heard} reports were too much to be kept` }]));
    if (say !== undefined) this.#turn.working(this.#said(say));
    if (artifact !== undefined) {
      const { append, lastChunk, ...made } = artifact;
      this.#turn.artifact(made as Artifact, { append, lastChunk });
    }
    const { approvals } = this.#memo;
    this.#memo = {
      ...this.#memo,
      ...(state === undefined ? {} : this.#kept(state)),
      approvals: approvals.filter(({ approvalId }) => approvalId !== usedApproval),
      turn: { ...turn, run, reports: n },
    };
    this.#turn.remember(this.#memo as Json);
  }

  /** What an agent keeps in the task is given to its next turn: so is where it had that from. */
  #kept(state: Json): Pick<TurnMemo, 'state' | 'taint'> {
    const taint = mergeTaint(this.#memo.taint, this.#taint);
    return { state, ...(taint && { taint: [...taint] }) };
  }

  #said(parts: TaskMessage['parts']): TaskMessage {
    return { messageId: this.#newId(), role: 'agent', parts };
  }
}

/** A partial result as an artifact of its own; undefined for what nobody could be shown. */
function partialOf(number: number, partial: unknown): Artifact | undefined {
  try {
    const metadata = partialMetadata();
    return { artifactId: `partial-${number}`, name: 'partial', parts: partsOf(partial), metadata };
  } catch {
    return undefined;
  }
}
