import { errorToData, notSerialisable } from '../../runtime/protocol/errors.ts';
import { findUnserialisable } from '../../runtime/protocol/json-safety.ts';
import type { AgentClient, Asking } from '../../runtime/public.ts';
import { type Listening, listenTo } from './listening.ts';
import { noteOf } from './assignment-note.ts';
import type { HandedWork, Hands, WorkOrder, WorkReports } from './swarm-reach.ts';
import { isStop } from './system-stop.ts';

/**
 * - `desk`      of the agent whose swarms they are.
 * - `isLasting` its swarms outlive its thread and the process.
 * - `ask`       asks at the desk: in the context of what the agent is handling, if the swarm belongs to that.
 * - `isOver`    the work that the context is of has ended.
 */
export interface DeskHandsDeps {
  readonly desk: Pick<AgentClient, 'isKeptFor'>;
  readonly isLasting: boolean;
  readonly ask: (asking: Asking) => Promise<unknown>;
  readonly isOver?: () => boolean;
}

/**
 * Hands assignments over by asking at an agent's desk.
 *
 * If its swarms are to outlive its thread and the process, durable agents are asked under an id that is made of swarm,
 * sub-task and epoch. So the coordinator that comes after this one asks the same again: what the agent has waits or goes
 * on, and what it has answered it answers again. Of what another agent had, nobody can hear any more.
 */
export class DeskHands implements Hands {
  readonly isExplicit = false;
  readonly isLasting: boolean;
  readonly #deps: DeskHandsDeps;

  constructor(deps: DeskHandsDeps) {
    this.#deps = deps;
    this.isLasting = deps.isLasting;
  }

  isKeptFor(agentId: string): boolean {
    return this.isLasting && this.#deps.desk.isKeptFor(agentId);
  }

  hand(order: WorkOrder, reports: WorkReports): HandedWork {
    return this.#ask(order, this.isLasting ? lastingReports(reports) : reports, Promise.resolve());
  }

  handAgain(order: WorkOrder, _envelopeId: string | undefined, reports: WorkReports): HandedWork | undefined {
    return this.isKeptFor(order.agentId) ? this.#ask(order, lastingReports(reports)) : undefined;
  }

  /** Without `ready` it is asked again, at once: what is cancelled then is cancelled where the agent has it. */
  #ask(order: WorkOrder, reports: WorkReports, ready?: Promise<void>): HandedWork {
    const ask = async (listening: Listening): Promise<unknown> => {
      const { signal, tell } = listening;
      if (ready !== undefined) {
        await ready; // Nothing is reported before this function has returned.
        if (listening.isOver) return undefined;
      }
      return this.#deps.ask({
        ...askingOf(order),
        ...(this.isKeptFor(order.agentId) && { envelopeId: envelopeIdOf(order) }),
        signal,
        onTaint: (taint) => tell(() => reports.tainted?.(taint)),
        onProgress: ({ partial }) => tell(() => reports.progressed({ partial })),
        ...(ready && { onSent: (envelopeId) => tell(() => reports.sent(envelopeId)) }),
      });
    };
    return listenTo(ask, reports, () => this.#deps.isOver?.() === true);
  }
}

/** The envelope of an assignment: the same whoever asks, and of no other assignment. */
const envelopeIdOf = ({ swarmId, subTaskId, epoch }: WorkOrder): string => `${swarmId}/${epoch}/${subTaskId}`;

function askingOf(order: WorkOrder): Asking {
  const { agentId, capability, input, correlationId, deadlineAtMs, justification, partial, taint, behalf } =
    order;
  return {
    recipient: agentId,
    capability,
    payload: input,
    correlationId,
    deadlineAtMs,
    behalf,
    metadata: { swarm: noteOf(order) },
    ...(partial === undefined ? {} : { resumeFrom: partial }),
    ...(justification === undefined ? {} : { justification }),
    ...(taint === undefined ? {} : { taint }),
  };
}

/** What is kept has to be JSON; and what fails because the system stops has not failed: it goes on in the next process. */
const lastingReports = (reports: WorkReports): WorkReports => ({
  sent: (envelopeId) => reports.sent(envelopeId),
  tainted: (taint) => reports.tainted?.(taint),
  progressed: ({ partial }) => reports.progressed(isLasting(partial) ? { partial } : {}),
  completed: (result) => {
    const lost = result === undefined ? undefined : findUnserialisable(result, 'result');
    if (lost === undefined) reports.completed(result);
    else reports.failed(errorToData(notSerialisable(lost.path, lost.kind)));
  },
  failed: (error) => (isStop(error) ? reports.suspended() : reports.failed(error)),
  orphaned: () => reports.orphaned(),
  suspended: () => reports.suspended(),
});

const isLasting = (value: unknown): boolean => value !== undefined && findUnserialisable(value) === undefined;
