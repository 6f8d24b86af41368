import type { StepWatch, WatchedStep } from '../protocol/step-watch.ts';

/** Where the steps of machines are told. */
export interface StepLog {
  readonly isTold: boolean;
  onInspected(listener: () => void): () => void;
  stepped(agentId: string | undefined, step: WatchedStep): void;
}

/** Watches the machines of one agent; without an agent, those of the thread itself. */
export class AgentSteps implements StepWatch {
  readonly #log: StepLog;
  readonly #agentId: string | undefined;

  constructor(log: StepLog, agentId?: string) {
    this.#log = log;
    this.#agentId = agentId;
  }

  isOn(): boolean {
    return this.#log.isTold;
  }

  onChange(listener: () => void): () => void {
    return this.#log.onInspected(listener);
  }

  tell(step: WatchedStep): void {
    this.#log.stepped(this.#agentId, step);
  }
}
