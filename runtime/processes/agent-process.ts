import { EndedFromOutside } from '../cell/actor-life.ts';
import { MachineHost } from '../machine/machine-host.ts';
import { reasonOf, withoutStack } from '../protocol/errors.ts';
import {
  type ProgressSample,
  type ProgressLimits,
  ProgressWatch,
  type NoProgress,
} from '../supervision/progress-watch.ts';
import type { Clock } from '../protocol/seams.ts';
import type { Snapshot } from '../protocol/snapshot.ts';
import { type AgentProcessEvent, agentProcessMachine } from './agent-process.machine.ts';
import type { ChildFrame, LeftState, ThrownData } from './child-frame.ts';
import type { Description } from '../agent/agent-description.ts';
import { encodeFrame } from './frame-codec.ts';
import { FramePump } from './frame-pump.ts';
import type { CallAnswer, HostFrame } from './host-frame.ts';
import type { ProcessOptions } from '../agent/process-options.ts';
import type { ProcessSpawner, SpawnedProcess } from './process-spawner.ts';
import type { ProcessUsage } from '../os/proc-usage.ts';
import { errorOf } from './thrown.ts';

/** What a process says of its own life, and not of its agent's work. */
type LifeFrame = 'loaded' | 'unloadable' | 'ready' | 'unready' | 'left' | 'ended' | 'pong';
export type WorkFrame = Exclude<ChildFrame, { t: LifeFrame }>;

/** Whoever has the agent work. */
export interface ProcessListener {
  /** Does what the frame says. False when it has to wait until `goOn`. Throws when it should not have been said. */
  onWork(frame: WorkFrame): boolean;
  /** Whoever watches the process has found something. */
  onFinding(finding: string): void;
  /** The process is gone, and everything that it said has been done. */
  onGone(end: ProcessEnd): void;
}

/** How a process ended. `isCharged`: it is the fault of what ran in it. */
export interface ProcessEnd {
  readonly reason: string;
  readonly isCharged: boolean;
}

const NOT_RUNNING: ProcessEnd = { reason: 'its process does not run', isCharged: false };
const STARTED_BEFORE: ProcessEnd = { reason: 'its process was started before', isCharged: true };

/** What whoever waits for a process is told of its end. */
export const errorOfEnd = ({ reason, isCharged }: ProcessEnd): Error =>
  withoutStack(isCharged ? new Error(reason) : new EndedFromOutside(reason));

export interface AgentProcessDeps {
  readonly spawner: ProcessSpawner;
  readonly clock: Clock;
  readonly starting: ProgressLimits;
  /** Is told of the process; its agent's code is loaded when this resolves. @default nobody is told */
  readonly note?: ((pid: number, gone: Promise<unknown>) => Promise<void>) | undefined;
}

/** What a process may say while something has to wait. */
const MAX_HELD_BYTES = 1024 * 1024;

/** One process of an agent: loaded once, started once, and never used again. Nothing that it says is taken on trust. */
export class AgentProcess {
  readonly pid: number | undefined;
  /** What agent the module holds; rejects when it cannot be loaded. */
  readonly description: Promise<Description>;
  /** Resolves when the process is gone. */
  readonly gone: Promise<ProcessEnd>;
  /** Signs of life, counted; 0 while the module is loaded, which may take long. */
  beat = 0;
  readonly #life: MachineHost<typeof agentProcessMachine>;
  readonly #pump: FramePump;
  readonly #loaded = Promise.withResolvers<Description>();
  readonly #started = Promise.withResolvers<void>();
  readonly #stopped = Promise.withResolvers<ThrownData | undefined>();
  readonly #gone = Promise.withResolvers<ProcessEnd>();
  #left = Promise.withResolvers<LeftState | undefined>();
  #spawned: SpawnedProcess | undefined;
  #listener: ProcessListener | undefined;
  #end: ProcessEnd | undefined;
  #isExited = false;
  #isCondemned = false;
  #isPaused = false;
  #isPinged = false;
  /** What was read from it, counted. */
  #reads = 0;
  /** Watches it until its module is loaded. */
  readonly #loading: ProgressWatch;

  constructor(module: string, options: ProcessOptions, { spawner, clock, starting, note }: AgentProcessDeps) {
    this.description = this.#loaded.promise;
    this.gone = this.#gone.promise;
    // Whoever wants to know asks; they may have lost interest.
    this.description.catch(() => undefined);
    this.#started.promise.catch(() => undefined);
    this.#left.promise.catch(() => undefined);
    this.#life = new MachineHost(agentProcessMachine, { actions: { kill: () => this.#spawned?.kill() } });
    this.#pump = new FramePump({
      obey: (frame) => this.#obey(frame),
      onFault: (fault) => this.#condemn(fault),
    });
    const onStill = ({ text }: NoProgress): void =>
      this.end({ reason: `loading ${module} did not end: ${text}`, isCharged: true });
    this.#loading = new ProgressWatch({ clock, sample: () => this.#footing(), onStill }, starting);
    try {
      this.#spawned = spawner.spawn(module, options);
    } catch (error) {
      this.#exited(`its process could not be started: ${reasonOf(error)}`);
    }
    this.pid = this.#spawned?.pid;
    this.#spawned?.onBytes((bytes) => this.#read(bytes));
    this.#spawned?.onExit((reason) => this.#exited(reason));
    if (this.pid === undefined || note === undefined) this.write({ t: 'load', module });
    else void note(this.pid, this.gone).then(() => this.write({ t: 'load', module }));
  }

  /** Bytes written to it that it has not taken. */
  get backlogBytes(): number {
    return this.#spawned?.backlogBytes ?? 0;
  }

  /** Bytes of answers to its calls that it has not taken. */
  get unreadAnswerBytes(): number {
    return this.#spawned?.unreadAnswerBytes ?? 0;
  }

  /** It is gone, or being ended. */
  get isOver(): boolean {
    return this.#end !== undefined;
  }

  /** It has ended, and everything that it said has been done. */
  get isGone(): boolean {
    return this.#life.matches('gone');
  }

  /** Everything that it said was taken in; nothing is after what made no sense. */
  get isHeardOut(): boolean {
    return !this.#isCondemned;
  }

  /**
   * Begins the agent's life, from what a former process left, if there is such. Rejects with what `onStart` threw, with
   * SNAPSHOT_UNKNOWN, or says how the process ended.
   */
  start(self: string, listener: ProcessListener, from?: Snapshot): Promise<void> {
    this.#listener = listener;
    if (this.#step('agent.start')) this.write({ t: 'start', self, from });
    else this.#started.reject(errorOfEnd(this.#end ?? STARTED_BEFORE));
    return this.#started.promise;
  }

  /** What the agent leaves to the next process; undefined when it keeps nothing. Fails with NOT_SERIALISABLE. */
  leave(): Promise<LeftState | undefined> {
    this.#left = Promise.withResolvers();
    this.#left.promise.catch(() => undefined);
    if (this.#step('agent.leave')) this.write({ t: 'leave' });
    else this.#left.reject(errorOfEnd(this.#end ?? NOT_RUNNING));
    return this.#left.promise;
  }

  /** Has the agent run its `onStop`; resolves to what that threw, if it did. Resolves at once when it cannot run. */
  stop(): Promise<ThrownData | undefined> {
    if (this.#step('agent.stop')) this.write({ t: 'stop' });
    else this.#stopped.resolve(undefined);
    return this.#stopped.promise;
  }

  /** Ends the process without its help, and for this reason, unless there was one before. */
  end(end: ProcessEnd): void {
    if (this.#isExited) return;
    this.#end ??= end;
    this.#step('process.end');
    this.goOn();
  }

  /** Whoever watches the process has found something. */
  found(finding: string): void {
    this.#listener?.onFinding(finding);
  }

  write(frame: HostFrame, isStructured = false): void {
    this.#spawned?.write(encodeFrame(frame, isStructured));
  }

  answerCall(answer: CallAnswer, isStructured = false): void {
    this.#spawned?.answer(encodeFrame(answer, isStructured));
  }

  /** What had to wait may be done. */
  goOn(): void {
    if (this.#pump.isWaiting) this.#pumpOn();
  }

  usage(): Promise<ProcessUsage | undefined> {
    return this.#spawned?.usage() ?? Promise.resolve(undefined);
  }

  /** Asks for a sign of life, unless it has been asked and has not answered. */
  ping(): void {
    if (this.#isPinged) return;
    this.#isPinged = true;
    this.write({ t: 'ping' });
  }

  /** It says nothing of its event loop before its module is loaded. */
  async #footing(): Promise<ProgressSample> {
    const usage = await this.usage();
    return { signs: this.#reads, beat: 1, cpuMs: usage?.cpuMs ?? Number.NaN };
  }

  #read(bytes: Buffer): void {
    this.#reads += 1;
    this.#pump.add(bytes);
    if (this.#isPaused || !this.#pump.isWaiting || this.#pump.heldBytes < MAX_HELD_BYTES) return;
    this.#isPaused = true;
    this.#spawned?.pause();
  }

  #pumpOn(): void {
    this.#pump.run();
    if (this.#pump.isWaiting) return;
    if (this.#isExited) this.#leave();
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#spawned?.resume();
  }

  #obey(frame: ChildFrame): boolean {
    switch (frame.t) {
      case 'pong':
        this.#isPinged = false;
        this.beat += 1;
        return true;
      case 'loaded':
        if (!this.#heard('child.loaded')) return true;
        this.#loading.close();
        this.beat = 1;
        this.#loaded.resolve(frame.description);
        return true;
      case 'unloadable':
        if (this.#heard('child.unloadable'))
          this.#loaded.reject(errorOf({ name: 'Error', message: frame.reason, stack: frame.stack }));
        return true;
      case 'ready':
        if (this.#heard('child.ready')) this.#started.resolve();
        return true;
      case 'unready':
        if (this.#heard('child.unready')) this.#started.reject(errorOf(frame.error));
        return true;
      case 'left':
        if (!this.#heard('child.left')) return true;
        if (frame.error === undefined) this.#left.resolve(frame.state);
        else this.#left.reject(errorOf(frame.error));
        return true;
      case 'ended':
        if (this.#heard('child.ended')) this.#stopped.resolve(frame.error);
        return true;
      default:
        if (!this.#life.hasTag('listened')) throw new Error(`it said "${frame.t}" too early`);
        return this.#listener?.onWork(frame) ?? true;
    }
  }

  /** False for what comes too late to matter: a process that is being ended may say it all the same. */
  #heard(type: AgentProcessEvent['type']): boolean {
    if (this.#step(type)) return true;
    if (this.#life.matches('ending')) return false;
    throw new Error(`it said "${type}" out of turn`);
  }

  #step(type: AgentProcessEvent['type']): boolean {
    if (!this.#life.can({ type })) return false;
    this.#life.send({ type });
    return true;
  }

  #condemn(fault: string): void {
    this.#isCondemned = true;
    this.#end = { reason: `its process broke the protocol: ${fault}`, isCharged: true };
    this.#step('process.condemn');
  }

  #exited(reason: string): void {
    this.#isExited = true;
    this.#end ??= { reason, isCharged: true };
    if (!this.#pump.isWaiting) this.#leave();
  }

  #leave(): void {
    if (!this.#step('process.exited')) return;
    const end = this.#end as ProcessEnd;
    this.#loading.close();
    this.#loaded.reject(errorOfEnd(end));
    this.#stopped.resolve(undefined);
    this.#left.reject(errorOfEnd(end));
    this.#listener?.onGone(end);
    this.#started.reject(errorOfEnd(end));
    this.#gone.resolve(end);
  }
}
