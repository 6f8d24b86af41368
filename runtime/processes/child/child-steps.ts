import type { StepWatch, WatchedStep } from '../../protocol/step-watch.ts';
import type { HostConnection } from './host-connection.ts';

/** Tells the host the steps of the agent's machines, while somebody watches there. */
export class ChildSteps implements StepWatch {
  readonly #host: HostConnection;
  readonly #listeners = new Set<() => void>();
  #isOn = false;

  constructor(host: HostConnection) {
    this.#host = host;
  }

  turn(isOn: boolean): void {
    this.#isOn = isOn;
    for (const listener of this.#listeners) listener();
  }

  isOn(): boolean {
    return this.#isOn;
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  tell({ machine, actorId, event, from, to, failedGuards }: WatchedStep): void {
    const step = {
      machine,
      actorId,
      event,
      from,
      to,
      ...(failedGuards && { failedGuards: [...failedGuards] }),
    };
    this.#host.say({ t: 'step', step });
  }
}
