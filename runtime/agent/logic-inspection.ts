import type { AnyActorRef, AnyMachineSnapshot, EventObject, InspectionEvent } from 'xstate';
import type { StepWatch } from '../protocol/step-watch.ts';
import { failedGuards, nameOfState } from '../machine/state-names.ts';

/** Tells the steps of the machines among the actors of one agent's logic, by XState's own inspection of their system. */
export class LogicInspection {
  readonly #root: AnyActorRef;
  readonly #watch: StepWatch;
  readonly #ended: { unsubscribe(): void };
  /** Where each actor stood when it was last told of. */
  readonly #last = new WeakMap<AnyActorRef, AnyMachineSnapshot>();

  constructor(root: AnyActorRef, watch: StepWatch) {
    this.#root = root;
    this.#watch = watch;
    this.#note(root, root.getSnapshot());
    this.#ended = root.system.inspect((event) => this.#hear(event));
  }

  end(): void {
    this.#ended.unsubscribe();
  }

  #hear(inspected: InspectionEvent): void {
    if (inspected.type !== '@xstate.snapshot') return;
    const ref = inspected.actorRef as AnyActorRef;
    const from = this.#last.get(ref);
    const to = this.#note(ref, inspected.snapshot);
    if (to === undefined || from === undefined) return;
    const event: EventObject = inspected.event;
    const failed = failedGuards(from, event);
    this.#watch.tell({
      machine: to.machine.id,
      actorId: ref === this.#root ? to.machine.id : ref.id,
      event: event.type,
      from: nameOfState(from.value),
      to: nameOfState(to.value),
      ...(failed.length === 0 ? {} : { failedGuards: failed }),
    });
  }

  #note(ref: AnyActorRef, snapshot: unknown): AnyMachineSnapshot | undefined {
    if (!isOfMachine(snapshot)) return undefined;
    this.#last.set(ref, snapshot);
    return snapshot;
  }
}

const isOfMachine = (snapshot: unknown): snapshot is AnyMachineSnapshot =>
  typeof snapshot === 'object' && snapshot !== null && 'machine' in snapshot && 'value' in snapshot;
