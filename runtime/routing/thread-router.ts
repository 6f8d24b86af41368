import type { WaitingSend } from '../mailbox/waiting-send.ts';
import { MachineHost } from '../machine/machine-host.ts';
import type { Clock } from '../protocol/seams.ts';
import { HeldSends } from './held-sends.ts';
import type { RoutingTable, TableChange, TableDelta } from './routing-table.ts';
import { type ThreadRouterEvent, threadRouterMachine } from './thread-router.machine.ts';

/** After this long without what it waits for, it asks for the whole table, again if it did so before. */
const TABLE_LATE_MS = 1_000;

/**
 * - `want`    asks the control thread for the whole table.
 * - `onState` hears of every state that it comes into; `draining.syncing` and `draining.awaiting` lie within `draining`.
 */
export interface ThreadRouterDeps {
  readonly table: RoutingTable;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly want: () => void;
  readonly onState: (state: string) => void;
}

/** The router actor of one thread: applies what the control thread says to the table, and says what may be sent. */
export class ThreadRouter {
  /** New envelopes are taken. The fields are here so that a send reads one of them and asks no machine. */
  isOpen = true;
  /** Deltas were lost, or are under way: whoever is not in the table may yet be. */
  isBehind = true;
  isStopped = false;
  readonly #deps: ThreadRouterDeps;
  readonly #machine: MachineHost<typeof threadRouterMachine>;
  readonly #held = new HeldSends();
  #state = 'syncing';
  #waitsSinceMs = Number.POSITIVE_INFINITY;

  constructor(deps: ThreadRouterDeps) {
    this.#deps = deps;
    this.#machine = new MachineHost(threadRouterMachine, {
      actions: {
        takeTable: ({ event }) => 'delta' in event && deps.table.replace(event.delta),
        applyDelta: ({ event }) => 'delta' in event && deps.table.apply(event.delta),
        askForTable: () => this.#ask(),
        giveTime: () => this.#beginWaiting(),
      },
    });
  }

  /** As the machine names it. */
  get state(): string {
    return this.#state;
  }

  /** Sends that wait for the table. */
  get held(): number {
    return this.#held.size;
  }

  /** The whole table is here: at boot, or because it was asked for. */
  replace(delta: TableDelta): void {
    this.#send({ type: 'table.received', delta });
  }

  /** The control thread has changed the table. */
  apply(delta: TableDelta): void {
    this.#send({ type: 'delta.received', delta });
  }

  /** Another thread has judged by this version: whoever it means may have been told of by now. */
  sawVersion(version: number): void {
    if (version > this.#deps.table.version) this.#send({ type: 'version.seen', version });
  }

  /** Rows that this thread must know before all others do; the delta that tells everybody is still to come. */
  enter(change: TableChange): void {
    this.#deps.table.enter(change);
  }

  /** From now on only what is under way is sent. */
  drain(): void {
    this.#send({ type: 'system.stopping' });
  }

  stop(error: Error): void {
    this.#send({ type: 'system.stopped' });
    this.#held.fail(error);
  }

  /** Has a send wait until the table is whole; false when as many wait as may. */
  hold(send: WaitingSend): boolean {
    return this.#held.add(send);
  }

  /** Lets those leave that wait no longer, and asks again for a table that does not come. */
  sweep(nowMs: number): void {
    if (!this.isBehind) return;
    if (this.#held.size > 0) this.#held.sendAway(nowMs);
    if (this.#deps.clock.monotonicMs() - this.#waitsSinceMs >= TABLE_LATE_MS)
      this.#send({ type: 'table.late' });
  }

  #ask(): void {
    this.#beginWaiting();
    this.#deps.want();
  }

  #beginWaiting(): void {
    this.#waitsSinceMs = this.#deps.clock.monotonicMs();
  }

  #send(event: ThreadRouterEvent): void {
    if (this.isStopped) return;
    this.#machine.send(event);
    const { state, isBehind: wasBehind } = this;
    this.#state = stateOf(this.#machine.value);
    this.isOpen = this.#machine.hasTag('open');
    this.isBehind = this.#machine.hasTag('behind');
    this.isStopped = this.#machine.isOver;
    if (this.#state !== state) this.#deps.onState(this.#state);
    if (wasBehind && !this.isBehind && !this.isStopped) this.#held.letGo();
  }
}

function stateOf(value: MachineHost<typeof threadRouterMachine>['value']): string {
  if (typeof value === 'string') return value;
  return value.draining === 'ready' ? 'draining' : `draining.${value.draining}`;
}
