import { Actor } from './actor.ts';
import type { Snapshot } from '../protocol/snapshot.ts';
import { mergeTaint, type Taint } from '../protocol/taint.ts';
import type { ActorLife, MakeActor } from './actor-life.ts';
import type { AgentDefinition } from '../agent/agent-definition.ts';
import type { AgentMemory } from './agent-memory.ts';
import type { Cell } from './cell.ts';
import { isThenable } from '../protocol/is-thenable.ts';

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
