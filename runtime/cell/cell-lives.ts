import type { AgentDefinition } from '../agent/agent-definition.ts';
import { type ErrorData, errorWithStack, reasonOf, snapshotUnknown } from '../protocol/errors.ts';
import { isThenable } from '../protocol/promises.ts';
import type { Snapshot } from '../protocol/snapshot.ts';
import { mergeTaint, type Taint } from '../protocol/taint.ts';
import { isSnapshotUnknown } from '../upgrade/restore.ts';
import { stateIdentity } from '../upgrade/state-identity.ts';
import type { ActorLife, MakeActor } from './actor-life.ts';
import { Actor } from './actor.ts';
import type { AgentMemory } from './cell-taint.ts';
import type { Cell } from './cell.ts';

const inThisThread: MakeActor = (cell) => new Actor(cell);

/** The actors of one cell, one after the other: each is over before the next one begins. */
export class CellLives {
  /** The one that lives, or the last one that did. */
  current: ActorLife | undefined;
  /** What outlives the actor of the moment and can hold what it was told; most agents that wait have none yet. */
  #memory: AgentMemory | undefined;
  /** Where what comes for the next actor, before it begins, came from outside. */
  nextTaint: Taint | undefined;
  readonly #cell: Cell;
  #makeActor: MakeActor;
  /** The end of the actor before, as long as its `onStop` may still run. */
  #ending: Promise<void> | undefined;
  #beginning: Promise<unknown> | undefined;
  #onRest: (() => void) | undefined;

  constructor(cell: Cell, makeActor: MakeActor = inThisThread) {
    this.#cell = cell;
    this.#makeActor = makeActor;
  }

  /** Where what the agent took in came from outside: its state, or what else its thread or process keeps, may hold it. */
  get taint(): Taint | undefined {
    return this.#kept.taint;
  }

  set taint(taint: Taint | undefined) {
    this.#kept.taint = taint;
  }

  get #kept(): AgentMemory {
    this.#memory ??= this.#cell.thread.memories.of(this.#cell.row.id);
    return this.#memory;
  }

  /** Resolves when the actor before has ended. */
  get ending(): Promise<void> | undefined {
    return this.#ending;
  }

  /** Resolves when the actor has started, or has failed to. */
  get started(): Promise<unknown> | undefined {
    return this.#beginning?.catch(() => undefined);
  }

  /** What the next actors run, and where. */
  adopt(definition: AgentDefinition<unknown>, makeActor: MakeActor = inThisThread): void {
    this.#cell.definition = definition;
    this.#makeActor = makeActor;
  }

  /**
   * Starts the next actor, from what one before it has left, if there is such; resolves to whether it runs: the cell may be
   * stopped meanwhile. Rejects when it did not start.
   */
  begin(from: Snapshot | undefined): Promise<boolean> {
    const beginning = this.#begin(from);
    this.#beginning = beginning;
    return beginning;
  }

  /** What the actor would leave to the next one now, as `ActorLife.snapshot`. */
  snapshot(): Snapshot | undefined | Promise<Snapshot | undefined> {
    const left = this.current?.snapshot();
    return isThenable(left) ? left.then((snapshot) => this.#marked(snapshot)) : this.#marked(left);
  }

  #marked(snapshot: Snapshot | undefined): Snapshot | undefined {
    return snapshot === undefined || this.taint === undefined ? snapshot : { ...snapshot, taint: this.taint };
  }

  async #begin(from: Snapshot | undefined): Promise<boolean> {
    const cell = this.#cell;
    await this.#ending;
    if (this.current?.isOver === false || cell.status !== 'starting') return false;
    const actor = this.#makeActor(cell);
    this.current = actor;
    // A death does not wash: only a new process has nothing of what the life before was told.
    if (actor.hasOwnMemory === true) this.#memory = { taint: undefined };
    this.taint = mergeTaint(this.taint, mergeTaint(from?.taint, this.nextTaint));
    this.nextTaint = undefined;
    try {
      const state = await actor.start(from);
      if (actor.isOver || cell.status !== 'starting') return false;
      actor.state = state;
      return true;
    } catch (error) {
      if (actor.isOver || cell.status !== 'starting') return false;
      actor.abandon();
      cell.thread.channels.ended(cell);
      throw error;
    }
  }

  /** Ends the actor; `afterwards` runs when it is over, before the next one begins. */
  end(afterwards: () => void): Promise<void> {
    this.#ending = this.#end(afterwards);
    this.rested();
    return this.#ending;
  }

  async #end(afterwards: () => void): Promise<void> {
    const cell = this.#cell;
    cell.thread.interceptors.ended(cell);
    await this.current?.end();
    cell.thread.channels.ended(cell);
    // What its code is changed for goes on; after a death the next one begins anew.
    if (cell.status !== 'changing') cell.thread.journal?.states.forget(cell);
    afterwards();
  }

  /** Resolves when `rested` is called next. */
  untilRested(): Promise<void> {
    return new Promise((resolve) => {
      this.#onRest = resolve;
    });
  }

  /** Nothing is in hand any more, or whoever waits for that does not wait any longer. */
  rested(): void {
    this.#onRest?.();
    this.#onRest = undefined;
  }
}

/** The code that a cell is to run from now on; `makeActor` if it is not in this thread. */
export interface NextCode {
  readonly definition: AgentDefinition<unknown>;
  readonly makeActor?: MakeActor | undefined;
}

/**
 * - `graceMs` how long what is in hand may take until it is cut off.
 * - `isFresh` the state is not handed on.
 */
export interface ChangeOptions {
  readonly graceMs: number;
  readonly isFresh: boolean;
}

/**
 * What became of a cell whose code was changed. `running`: by the new code, with the state where there was one; `parked`: the
 * state waits for other code, `why` says why; `later`: the new code will run when the agent is started again.
 */
export type Changed =
  | { readonly outcome: 'running' | 'later' }
  | { readonly outcome: 'parked'; readonly snapshot: Snapshot; readonly why: ErrorData };

/**
 * Changes the code of a cell under load: what is in hand is finished, what waits or comes stays in the mailbox, and the next
 * actor goes on with the state of the last. When the state cannot be taken this rejects, and the cell goes on as before.
 *
 * An actor that dies or is stopped meanwhile leaves no state; then the new code runs from the next start on.
 */
export async function changeCell(
  cell: Cell,
  next: NextCode,
  { graceMs, isFresh }: ChangeOptions,
): Promise<Changed> {
  if (cell.status === 'starting') await cell.lives.started;
  if (cell.status !== 'running') return adopt(cell, next);
  cell.become('upgrade.asked');
  await atRest(cell, graceMs);
  if (!isFinishing(cell)) return adopt(cell, next);
  let snapshot: Snapshot | undefined;
  try {
    snapshot = isFresh ? undefined : await cell.lives.snapshot();
  } catch (error) {
    if (isFinishing(cell)) {
      cell.become('upgrade.dropped');
      cell.goOn();
    }
    throw error;
  }
  if (!isFinishing(cell)) return adopt(cell, next);
  const reason = `it was not done ${graceMs} ms after its agent was to be upgraded`;
  cell.cutOffInHand({ reason });
  cell.become('upgrade.ready');
  await cell.endActor({ reason });
  adopt(cell, next);
  return isChanging(cell) ? begin(cell, snapshot) : LATER;
}

/** Has a parked cell go on with its state in other code, or without it. */
export async function resumeCell(
  cell: Cell,
  next: NextCode,
  snapshot: Snapshot | undefined,
): Promise<Changed> {
  adopt(cell, next);
  cell.become('upgrade.resumed');
  return isChanging(cell) ? begin(cell, snapshot) : LATER;
}

const RUNNING: Changed = { outcome: 'running' };
const LATER: Changed = { outcome: 'later' };

function adopt(cell: Cell, { definition, makeActor }: NextCode): Changed {
  cell.lives.adopt(definition, makeActor);
  return LATER;
}

function begin(cell: Cell, snapshot: Snapshot | undefined): Promise<Changed> {
  return snapshot === undefined ? startFresh(cell) : startFrom(cell, snapshot);
}

/** A start without a state that fails is a death like any other. */
async function startFresh(cell: Cell): Promise<Changed> {
  cell.become('state.dropped');
  cell.thread.journal?.states.forget(cell);
  try {
    return (await cell.start()) ? RUNNING : LATER;
  } catch (error) {
    cell.thread.supervisor.crashed(cell, error, cell.lives.taint);
    return LATER;
  }
}

/** A start that fails must not cost the state. */
async function startFrom(cell: Cell, snapshot: Snapshot): Promise<Changed> {
  try {
    if (!(await cell.start(snapshot))) return LATER;
    cell.thread.journal?.states.changed(cell);
    return RUNNING;
  } catch (error) {
    cell.park();
    return { outcome: 'parked', snapshot, why: errorWithStack(whyParked(cell, snapshot, error)) };
  }
}

function whyParked(
  { row, definition }: Cell,
  { machineId, version, hash }: Snapshot,
  error: unknown,
): unknown {
  if (isSnapshotUnknown(error)) return error;
  const of = { from: { machineId, version, hash }, to: stateIdentity(definition) };
  return snapshotUnknown(row.id, `its start failed: ${reasonOf(error)}`, of, error);
}

/** Resolves when nothing is in hand, or when that took too long, or when the actor is over. */
async function atRest(cell: Cell, graceMs: number): Promise<void> {
  if (cell.isAtRest) return;
  const { wheel, seams } = cell.thread;
  const timer = wheel.add(seams.clock.now() + graceMs, () => cell.lives.rested());
  await cell.lives.untilRested();
  timer.cancel();
}

const isFinishing = ({ status }: Cell): boolean => status === 'finishing';
const isChanging = ({ status }: Cell): boolean => status === 'changing';
