import { z } from 'zod';
import { type Capability, capability } from '../../runtime/protocol/capability.ts';
import type { Clock } from '../../runtime/protocol/seams.ts';
import type { Sender } from '../../runtime/public.ts';
import { type Listening, listenTo } from './listening.ts';
import { noteOf } from './assignment-note.ts';
import type { HandedWork, Hands, WorkOrder, WorkReports } from './swarm-reach.ts';

/** Who asks: the embedder, or the context of an agent. `isOver`: the work that the context is of has ended. */
export interface Asker {
  readonly ask: Sender['ask'];
  readonly isOver?: () => boolean;
}

/**
 * Hands assignments over by asking: an agent with a handler for the capability takes part without knowing of swarms.
 *
 * Its progress and its checkpoints are the signs of life; cancelling an assignment cancels what it caused. What is asked
 * inherits from the work in which the swarm was made, if it was made in some.
 */
export class AskingHands implements Hands {
  readonly isExplicit = false;
  readonly isLasting = false;
  readonly #asker: Asker;
  readonly #clock: Pick<Clock, 'now'>;

  constructor(asker: Asker, clock: Pick<Clock, 'now'>) {
    this.#asker = asker;
    this.#clock = clock;
  }

  isKeptFor(): boolean {
    return false;
  }

  hand(order: WorkOrder, reports: WorkReports): HandedWork {
    const ask = async ({ signal, tell }: Listening): Promise<unknown> => {
      await undefined; // Nothing is reported before this function has returned.
      const { agentId, correlationId, justification, partial, taint } = order;
      return this.#asker.ask({ agent: agentId, capability: anyPayload(order.capability) }, order.input, {
        timeoutMs: Math.max(1, order.deadlineAtMs - this.#clock.now()),
        signal,
        correlationId,
        whenFull: 'park',
        metadata: { swarm: noteOf(order) },
        onSent: (envelopeId) => tell(() => reports.sent(envelopeId)),
        onTaint: (taint) => tell(() => reports.tainted?.(taint)),
        onProgress: ({ partial }) => tell(() => reports.progressed({ partial })),
        ...(partial === undefined ? {} : { resumeFrom: partial }),
        ...(justification === undefined ? {} : { justification }),
        ...(taint === undefined ? {} : { taint }),
      });
    };
    return listenTo(ask, reports, () => this.#asker.isOver?.() === true);
  }

  /** An ask ends with the coordinator that waits for it. */
  handAgain(): undefined {
    return undefined;
  }
}

/** A coordinator knows of capabilities only their names; what they take is checked where they are handled. */
const anyPayload = (id: string): Capability =>
  capability({ id, description: id, input: z.unknown(), output: z.unknown() });
