import { JournalledProposals } from '../../../../actors/negotiator/proposal-store.ts';
import type { AgentPort } from '../../../../actors/agent-port/agent-port.ts';
import { TaskNegotiator, type TaskNegotiatorOptions } from '../../../../actors/negotiator/task-negotiator.ts';
import type { Clock } from '../../../../runtime/protocol/seams.ts';

/** What a sender is told of what is lost. */
const LOST = { delivered: true, path: 'local', targetAgentId: '', latencyMs: 0, envelopeId: 'lost' } as const;

/** What an agent keeps, as a journal has it: texts, which outlive whoever wrote them. */
export class KeptTexts {
  readonly texts = new Map<string, string>();
  /** Resolves when what was put outlives everything. */
  whenKept: () => Promise<void> = () => Promise.resolve();

  /** The records of one life; from its end on nothing is written. */
  records(life: { readonly isOver: boolean }) {
    return {
      put: (kind: string, key: string, value: unknown): void => {
        if (life.isOver) return;
        if (value === undefined) this.texts.delete(`${kind} ${key}`);
        else this.texts.set(`${kind} ${key}`, JSON.stringify(value));
      },
      takeLeft: (kind: string) =>
        [...this.texts].flatMap(([key, text]) =>
          key.startsWith(`${kind} `)
            ? [{ key: key.slice(kind.length + 1), value: JSON.parse(text) as unknown }]
            : [],
        ),
      whenKept: () => this.whenKept(),
    };
  }
}

export interface LivesOptions extends Omit<TaskNegotiatorOptions, 'store'> {
  /** Where a durable agent keeps its proposals; without it, the next life knows nothing of this one. */
  readonly kept?: KeptTexts | undefined;
  readonly capacity?: number;
}

/** The negotiators of one agent, one after the other: each ends as with its process, without a word. */
export class NegotiatorLives {
  readonly unreadable: string[] = [];
  readonly #options: LivesOptions;
  #current: TaskNegotiator;
  #end: () => void = () => undefined;

  constructor(options: LivesOptions) {
    this.#options = options;
    this.#current = this.#begin();
  }

  get current(): TaskNegotiator {
    return this.#current;
  }

  /** Ends this life; `meanwhile` happens before the next one begins. */
  restart(meanwhile: () => void = () => undefined): TaskNegotiator {
    this.#end();
    meanwhile();
    this.#current = this.#begin();
    return this.#current;
  }

  #begin(): TaskNegotiator {
    const { kept, port, capacity, ...options } = this.#options;
    const life = { isOver: false };
    const timers = new Set<() => void>();
    this.#end = () => {
      life.isOver = true;
      for (const cancel of timers) cancel();
    };
    const onUnreadable = (proposalId: string, why: string) => this.unreadable.push(`${proposalId}: ${why}`);
    const store =
      kept &&
      new JournalledProposals(kept.records(life), {
        onUnreadable,
        ...(capacity === undefined ? {} : { capacity }),
      });
    const negotiator = new TaskNegotiator({
      ...options,
      port: mortalPort(port, life, timers),
      ...(store === undefined ? {} : { store }),
    });
    negotiator.resume();
    negotiator.sayAgain();
    return negotiator;
  }
}

function mortalClock(clock: Clock, timers: Set<() => void>): Clock {
  return {
    now: () => clock.now(),
    monotonicMs: () => clock.monotonicMs(),
    setTimer: (delayMs, fire) => {
      const cancel = clock.setTimer(delayMs, () => {
        timers.delete(cancel);
        fire();
      });
      timers.add(cancel);
      return cancel;
    },
  };
}

const mortalPort = (
  port: AgentPort,
  life: { readonly isOver: boolean },
  timers: Set<() => void>,
): AgentPort => ({
  ...port,
  seams: { ...port.seams, clock: mortalClock(port.seams.clock, timers) },
  send: (message) => (life.isOver ? Promise.resolve(LOST) : port.send(message)),
  listen: (listener) => port.listen((envelope) => (life.isOver ? undefined : listener(envelope))),
});
