import type { WaitingSend } from '../mailbox/waiting-send.ts';
import { MachineHost } from '../machine/machine-host.ts';
import type { StepWatch } from '../protocol/step-watch.ts';
import type { Clock } from '../protocol/seams.ts';
import { HeldSends } from './held-sends.ts';
import type { RoutingTable, TableChange, TableDelta } from './routing-table.ts';
import { type ThreadRouterEvent, threadRouterMachine } from './thread-router.machine.ts';

/** After so many milliseconds without what it waits for, the router asks for the whole table, again if necessary. */
const TABLE_LATE_MS = 1_000;

/**
 * - `want`    asks the control thread for the whole table.
 * - `watch`   of its machine.
 * - `onState` called with every state that it enters; `draining.syncing` and `draining.awaiting` lie within `draining`.
 */
export interface ThreadRouterDeps {
  readonly table: RoutingTable;
  readonly clock: Pick<Clock, 'monotonicMs' | 'now'>;
  readonly want: () => void;
  readonly watch?: StepWatch;
  readonly onState: (state: string) => void;
}

/** The router of one thread: applies the control thread's changes to the table, and says whether sends may go. */
export class ThreadRouter {
  /** Whether new envelopes are taken. These are fields so that a send reads one and asks no machine. */
  isOpen = true;
  /** Whether deltas are under way or lost: an agent that is not in the table may be there soon. */
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
      watch: deps.watch,
      actions: {
        takeTable: ({ event }) => 'delta' in event && deps.table.replace(event.delta),
        applyDelta: ({ event }) => 'delta' in event && deps.table.apply(event.delta),
        askForTable: () => this.#ask(),
        giveTime: () => this.#beginWaiting(),
      },
    });
  }

  /** The state, as the machine names it. */
  get state(): string {
    return this.#state;
  }

  /** How many sends wait for the table. */
  get held(): number {
    return this.#held.size;
  }

  /** Replaces the table by a whole one: at boot, or because it was asked for. */
  replace(delta: TableDelta): void {
    this.#send({ type: 'table.received', delta });
  }

  /** Applies a change by the control thread. */
  apply(delta: TableDelta): void {
    this.#send({ type: 'delta.received', delta });
  }

  /** Notes that another thread has judged by this version: if it is newer, its delta is under way. */
  sawVersion(version: number): void {
    if (version > this.#deps.table.version) this.#send({ type: 'version.seen', version });
  }

  /** Enters rows that this thread must know before the others. The delta for all threads comes later. */
  enter(change: TableChange): void {
    this.#deps.table.enter(change);
  }

  /** From now on takes no new envelopes; those under way are still routed. */
  drain(): void {
    this.#send({ type: 'system.stopping' });
  }

  stop(error: Error): void {
    this.#send({ type: 'system.stopped' });
    this.#held.fail(error);
  }

  /** Has a send wait until the table is up to date; false if the most that may wait do. */
  hold(send: WaitingSend): boolean {
    return this.#held.add(send);
  }

  /** Fails the sends that wait no longer, and asks again for a table that is late. */
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
    if (wasBehind && !this.isBehind && !this.isStopped) this.#held.letGo(this.#deps.clock.now());
  }
}

function stateOf(value: MachineHost<typeof threadRouterMachine>['value']): string {
  if (typeof value === 'string') return value;
  return value.draining === 'ready' ? 'draining' : `draining.${value.draining}`;
}
