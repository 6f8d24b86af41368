import { CpuPool, type CpuPoolOptions } from '../agent/offload.ts';
import type { Outside, OutsideCall } from '../agent/outside.ts';
import { cancelled, invalidOptions } from '../protocol/errors.ts';
import { systemClock } from '../protocol/system-seams.ts';
import { Chance } from './chance.ts';
import type { Scheduler } from './scheduler.ts';
import type { VirtualThread } from './virtual-thread.ts';

/** The caller of an effect. `nowMs` is in virtual milliseconds since the simulation began. */
export interface ReachedBy {
  readonly agentId: string;
  readonly nowMs: number;
}

/** Returns the result of an effect. `input` is the payload of the envelope in hand; undefined in a start or stop. */
export type SimulatedEffect = (input: unknown, random: () => number, by: ReachedBy) => unknown;

/** Returns the result of an offloaded module for `input`. */
export type SimulatedOffload = (module: URL, input: unknown, random: () => number, by: ReachedBy) => unknown;

/**
 * An effect or offloaded task that was performed. `name` is the effect's, or the module's URL; `atMs` is in virtual
 * milliseconds.
 */
export interface PerformedEffect {
  readonly name: string;
  readonly agentId: string;
  readonly atMs: number;
  readonly input: unknown;
  readonly result: unknown;
}

export interface SimulatedOutsideOptions {
  readonly seed: number;
  readonly effects: Readonly<Record<string, SimulatedEffect>>;
  /** Range of an effect's time, virtual milliseconds. */
  readonly effectMs: readonly [number, number];
  /** Results of offloaded modules. @default the module runs for real while virtual time stands still */
  readonly offload: SimulatedOffload | undefined;
  /** Results of offloaded modules, by module and input. Those of this run are added. */
  readonly remembered: Map<string, unknown>;
  /** Options of the pool for offloaded modules. */
  readonly cpu: CpuPoolOptions;
}

/** Answers effects and offloaded tasks in place of the outside. */
export class SimulatedOutside {
  readonly performed: PerformedEffect[] = [];
  readonly #scheduler: Scheduler;
  readonly #options: SimulatedOutsideOptions;
  readonly #chance: Chance;
  #pool: CpuPool | undefined;
  /** Offloaded tasks of this run, with the error of each that failed. */
  readonly #outcomes = new Map<string, { readonly error: unknown } | undefined>();

  constructor(scheduler: Scheduler, options: SimulatedOutsideOptions) {
    this.#scheduler = scheduler;
    this.#options = options;
    this.#chance = new Chance(options.seed, 'effects');
  }

  /** The `Outside` for agents of a thread. */
  of(thread: VirtualThread): Outside {
    return {
      effect: (by, name) => this.#effect(thread, by, name),
      offload: (by, module, input) => this.#offload(thread, by, module, input),
    };
  }

  async close(): Promise<void> {
    await this.#pool?.close();
  }

  #effect(thread: VirtualThread, by: OutsideCall, name: string): Promise<unknown> {
    const { effects } = this.#options;
    const answer = Object.hasOwn(effects, name) ? effects[name] : undefined;
    if (answer === undefined) {
      const error = invalidOptions(
        `effects.${name}`,
        undefined,
        `what ctx.effect('${name}') of ${by.self} comes to`,
      );
      this.#scheduler.fail(error);
      return Promise.reject(error);
    }
    const input = by.mail?.payload;
    return this.#later(thread, by, () =>
      this.#perform(name, by, input, (about) => answer(input, this.#chance.next, about)),
    );
  }

  async #offload(thread: VirtualThread, by: OutsideCall, module: URL, input: unknown): Promise<unknown> {
    const { offload } = this.#options;
    if (!(module instanceof URL)) throw invalidOptions('module', module, 'a URL');
    if (offload !== undefined)
      return this.#later(thread, by, () =>
        this.#perform(module.href, by, input, (about) => offload(module, input, this.#chance.next, about)),
      );
    const key = `${module.href}\n${JSON.stringify(input)}`;
    if (!this.#options.remembered.has(key) && !this.#outcomes.has(key)) this.#run(key, module, input);
    return this.#later(thread, by, () => this.#perform(module.href, by, input, () => this.#outcomeOf(key)));
  }

  /** Runs the module for real. Virtual time stands still, so its real duration has no effect. */
  #run(key: string, module: URL, input: unknown): void {
    const { remembered } = this.#options;
    this.#pool ??= new CpuPool({ seams: { clock: systemClock } }, this.#options.cpu);
    const pool = this.#pool;
    this.#outcomes.set(key, undefined);
    void this.#scheduler.suspend(() =>
      pool.run(module, input).then(
        (result) => void remembered.set(key, result),
        (error: unknown) => void this.#outcomes.set(key, { error }),
      ),
    );
  }

  #outcomeOf(key: string): unknown {
    const failure = this.#outcomes.get(key);
    if (failure !== undefined) throw failure.error;
    return structuredClone(this.#options.remembered.get(key));
  }

  /** Runs `run` after the time of an effect. */
  #later(thread: VirtualThread, by: OutsideCall, run: () => Promise<unknown>): Promise<unknown> {
    const { effectMs } = this.#options;
    return new Promise((resolve, reject) => {
      this.#scheduler.schedule(thread, thread.localMs + this.#chance.between(...effectMs), () => {
        if (by.signal.aborted) reject(by.signal.reason ?? cancelled(`The effect of ${by.self}`));
        else run().then(resolve, reject);
      });
    });
  }

  async #perform(
    name: string,
    { self }: OutsideCall,
    input: unknown,
    run: (about: ReachedBy) => unknown,
  ): Promise<unknown> {
    const atMs = this.#scheduler.nowMs;
    const result = await run({ agentId: self, nowMs: atMs });
    this.performed.push({ name, agentId: self, atMs, input, result });
    return result;
  }
}
