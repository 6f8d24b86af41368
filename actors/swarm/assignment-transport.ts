import type { AssignmentNote } from '../../runtime/protocol/assignment-note.ts';
import type { A2AEnvelope } from '../../runtime/protocol/envelope.ts';
import { errorToData, notSerialisable } from '../../runtime/protocol/errors.ts';
import { findUnserialisable } from '../../runtime/protocol/json.ts';
import type { Asking } from '../../runtime/public.ts';
import type { AgentPort, PortMessage } from '../agent-port/agent-port.ts';
import {
  type AssignmentTransport,
  type HandedAssignment,
  isStop,
  type AssignmentOrder,
  type AssignmentReports,
} from './swarm-reach.ts';
import { faultIn } from './swarm-requests.ts';

/** How the assignments of an agent's swarms are handed over through its port. */
export const askingOver = (port: AgentPort): AssignmentTransport | undefined =>
  port.ask === undefined ? undefined : new AskingTransport(port, port.ask);

/**
 * Hands assignments over by asking: an agent with a handler for the capability takes part without knowing of swarms. What is
 * asked belongs to the work of the port, and is orphaned with it.
 *
 * If the swarms of the port's agent outlive its thread and the process, durable agents are asked under an id that is made of
 * swarm, sub-task and epoch. So the coordinator that comes after this one asks the same again: what the agent has waits or
 * goes on, and what it has answered it answers again. Of what another agent had, nobody can hear any more.
 */
class AskingTransport implements AssignmentTransport {
  readonly isExplicit = false;
  readonly #port: AgentPort;
  readonly #ask: NonNullable<AgentPort['ask']>;

  constructor(port: AgentPort, ask: NonNullable<AgentPort['ask']>) {
    this.#port = port;
    this.#ask = ask;
  }

  get isLasting(): boolean {
    return this.#port.records !== undefined;
  }

  isKeptFor(agentId: string): boolean {
    return this.isLasting && this.#port.isKeptFor(agentId);
  }

  hand(order: AssignmentOrder, reports: AssignmentReports): HandedAssignment {
    return this.#handOver(order, this.isLasting ? lastingReports(reports) : reports, Promise.resolve());
  }

  handAgain(
    order: AssignmentOrder,
    _envelopeId: string | undefined,
    reports: AssignmentReports,
  ): HandedAssignment | undefined {
    return this.isKeptFor(order.agentId) ? this.#handOver(order, lastingReports(reports)) : undefined;
  }

  /** Without `ready` it is asked again, at once: what is cancelled then is cancelled where the agent has it. */
  #handOver(order: AssignmentOrder, reports: AssignmentReports, ready?: Promise<void>): HandedAssignment {
    const ask = async (listening: Listening): Promise<unknown> => {
      const { signal, tell } = listening;
      if (ready !== undefined) {
        await ready; // Nothing is reported before this function has returned.
        if (listening.isOver) return undefined;
      }
      return this.#ask({
        ...askingOf(order),
        ...(this.isKeptFor(order.agentId) && { envelopeId: envelopeIdOf(order) }),
        signal,
        onTaint: (taint) => tell(() => reports.tainted?.(taint)),
        onProgress: ({ partial }) => tell(() => reports.progressed({ partial })),
        ...(ready && { onSent: (envelopeId) => tell(() => reports.sent(envelopeId)) }),
      });
    };
    return listenTo(ask, reports, () => this.#port.work?.isOver === true);
  }
}

/** The envelope of an assignment: the same whoever asks, and of no other assignment. */
const envelopeIdOf = ({ swarmId, subTaskId, epoch }: AssignmentOrder): string =>
  `${swarmId}/${epoch}/${subTaskId}`;

function askingOf(order: AssignmentOrder): Asking {
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
const lastingReports = (reports: AssignmentReports): AssignmentReports => ({
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

/** An ask that hands an assignment over, as long as somebody listens to what becomes of it. */
interface Listening {
  readonly signal: AbortSignal;
  /** Removes all listeners. */
  readonly isOver: boolean;
  /** Reports, if somebody listens. */
  readonly tell: (report: () => void) => void;
}

/**
 * Runs `ask` and reports its end. Cancelling it aborts the signal; released, it goes on and nobody hears of it. `isOrphaned`
 * says, when it fails, that the work is over to which it belongs.
 */
function listenTo(
  ask: (listening: Listening) => Promise<unknown>,
  reports: Pick<AssignmentReports, 'completed' | 'failed' | 'orphaned'>,
  isOrphaned: () => boolean,
): HandedAssignment {
  const abort = new AbortController();
  let isListening = true;
  const tell = (report: () => void): void => {
    if (isListening) report();
  };
  const listening = {
    signal: abort.signal,
    get isOver() {
      return !isListening;
    },
    tell,
  };
  void ask(listening).then(
    (result) => tell(() => reports.completed(result)),
    (error: unknown) =>
      tell(() => {
        if (isOrphaned()) reports.orphaned();
        else reports.failed(errorToData(error));
      }),
  );
  return {
    cancel: () => {
      isListening = false;
      abort.abort();
    },
    release: () => {
      isListening = false;
    },
  };
}

interface Handed {
  readonly agentId: string;
  readonly reports: AssignmentReports;
}

/**
 * Hands assignments over as envelopes: a request that names the capability, with the assignment in `metadata.swarm`. The
 * agent answers with a response or an error, and shows progress by notifications, each in reply to the request.
 */
export class EnvelopeTransport implements AssignmentTransport {
  readonly isExplicit = true;
  readonly isLasting = false;
  readonly #port: AgentPort;
  readonly #handed = new Map<string, Handed>();

  constructor(port: AgentPort) {
    this.#port = port;
  }

  isKeptFor(): boolean {
    return false;
  }

  hand(order: AssignmentOrder, reports: AssignmentReports): HandedAssignment {
    let isListening = true;
    let sentIn: string | undefined;
    const stop = (): void => {
      isListening = false;
      if (sentIn !== undefined) this.#handed.delete(sentIn);
    };
    const send = async (): Promise<void> => {
      await undefined; // Nothing is reported before this function has returned.
      if (!isListening) return;
      const result = await this.#port.send(messageOf(order), (envelopeId) => {
        sentIn = envelopeId;
        this.#handed.set(envelopeId, { agentId: order.agentId, reports });
        reports.sent(envelopeId);
      });
      if (result.delivered || !isListening) return;
      stop();
      const { errorCode = 'DELIVERY_FAILED', error = 'it was not delivered' } = result;
      reports.failed({ code: errorCode, message: error });
    };
    void send();
    return { cancel: stop, release: stop };
  }

  handAgain(
    order: AssignmentOrder,
    envelopeId: string | undefined,
    reports: AssignmentReports,
  ): HandedAssignment | undefined {
    if (envelopeId === undefined) return undefined;
    this.#handed.set(envelopeId, { agentId: order.agentId, reports });
    const stop = (): void => void this.#handed.delete(envelopeId);
    return { cancel: stop, release: stop };
  }

  /** Takes an envelope that has come for the owner; false when it answers no assignment that is listened to. */
  receive({ type, sender, payload, metadata }: A2AEnvelope): boolean {
    const envelopeId = metadata?.inReplyTo;
    const handed = envelopeId === undefined ? undefined : this.#handed.get(envelopeId);
    if (envelopeId === undefined || handed?.agentId !== sender) return false;
    switch (type) {
      case 'notification':
        handed.reports.progressed((payload ?? {}) as { partial?: unknown });
        return true;
      case 'response':
        this.#handed.delete(envelopeId);
        handed.reports.completed(payload);
        return true;
      case 'error':
        this.#handed.delete(envelopeId);
        handed.reports.failed(faultIn(payload), true);
        return true;
      default:
        return false;
    }
  }
}

function messageOf(order: AssignmentOrder): PortMessage {
  const { partial, justification } = order;
  return {
    recipient: order.agentId,
    type: 'request',
    expectsReply: true,
    capability: order.capability,
    payload: order.input,
    correlationId: order.correlationId,
    deadlineAtMs: order.deadlineAtMs,
    metadata: { swarm: noteOf(order), ...(partial === undefined ? {} : { resumeFrom: partial }) },
    ...(justification === undefined ? {} : { justification }),
  };
}

/** What the envelope of an assignment says of it. */
const noteOf = ({
  swarmId,
  subTaskId,
  epoch,
  description,
  requiredCapabilities,
  leaseMs,
}: AssignmentOrder): AssignmentNote => ({
  swarmId,
  subTaskId,
  epoch,
  description,
  requiredCapabilities: [...requiredCapabilities],
  leaseMs,
});
