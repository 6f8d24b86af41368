import { PENDING } from '../../agent/pending.ts';
import type { AgentDefinition, HandlerEntry } from '../../agent/agent-definition.ts';
import { entryOf, envelopeHandlerOf, refuseOtherKind } from '../../agent/find-handler.ts';
import { isThenable } from '../../protocol/promises.ts';
import { LogicRunner } from '../../agent/logic-runner.ts';
import { parseInput, parseOutput } from '../../protocol/capability.ts';
import {
  errorFromData,
  errorToData,
  isOrreryError,
  type OrreryError,
  reasonOf,
  stackOf,
} from '../../protocol/errors.ts';
import type { Seams } from '../../protocol/seams.ts';
import type { Snapshot } from '../../protocol/snapshot.ts';
import { notRestored, stateFrom } from '../../upgrade/restore.ts';
import { takeSnapshot } from '../../upgrade/take-snapshot.ts';
import type { GivenChildFrame, ThrownData } from '../child-frame.ts';
import type { HostFrame } from '../host-frame.ts';
import { ChildHandling, type GivenWork, type HandlingAgent } from './child-handling.ts';
import type { HostConnection } from './host-connection.ts';
import { ChildRequests } from './child-requests.ts';
import { ChildSteps } from './child-steps.ts';
import { requireSerialisable, wholeValue } from './require-serialisable.ts';
import { WorkQueue } from './work-queue.ts';

export interface ChildAgentDeps {
  readonly definition: AgentDefinition<unknown>;
  readonly host: HostConnection;
  readonly seams: Seams;
  readonly offload: HandlingAgent['offload'];
}

/** Runs an agent's code in its process, on the host's orders. */
export class ChildAgent implements HandlingAgent {
  self = '';
  state: unknown = undefined;
  readonly host: HostConnection;
  readonly requests: ChildRequests;
  readonly seams: Seams;
  readonly offload: HandlingAgent['offload'];
  readonly #definition: AgentDefinition<unknown>;
  readonly #life: ChildHandling;
  readonly #handlings = new Map<number, ChildHandling>();
  readonly #queue: WorkQueue;
  readonly #steps: ChildSteps;
  #logic: LogicRunner | undefined;

  constructor({ definition, host, seams, offload }: ChildAgentDeps) {
    this.#definition = definition;
    this.host = host;
    this.requests = new ChildRequests(host);
    this.seams = seams;
    this.offload = offload;
    this.#steps = new ChildSteps(host);
    this.#life = new ChildHandling(this, undefined);
    this.#queue = new WorkQueue((work) => this.#handle(work));
  }

  obey(frame: HostFrame): void {
    switch (frame.t) {
      case 'start':
        void this.#start(frame.self, frame.from);
        return;
      case 'leave':
        this.#leave();
        return;
      case 'handle':
        this.#queue.add(frame, frame.turn);
        return;
      case 'now':
        this.#queue.runNow(frame.n);
        return;
      case 'abort':
        this.#abort(frame.n, errorFromData(frame.error));
        return;
      case 'pull': {
        const handling = this.#handlings.get(frame.n);
        if (handling === undefined) return;
        handling.credit += frame.count;
        handling.wake();
        return;
      }
      case 'answer':
        this.requests.answered(frame.a, frame);
        return;
      case 'stop':
        void this.#stop();
        return;
      case 'watch':
        this.#steps.turn(frame.isOn);
        return;
      case 'ping':
        this.host.say({ t: 'pong' });
        return;
    }
  }

  /** An error that nobody caught. */
  noteStray(error: unknown): void {
    if (this.#handlings.size > 0) this.#queue.stop();
    this.host.sayNow({ t: 'stray', error: thrownOf(error) });
  }

  finish(handling: ChildHandling, output: unknown): void {
    if (!this.#isOpen(handling)) return;
    const { n, entry, work } = handling;
    if (work?.isAsked !== true || entry?.kind === 'stream') return this.#close(handling, { t: 'done', n });
    try {
      const answer = entry === undefined ? output : parseOutput(entry.capability, output, this.self);
      const isStructured = entry?.capability.carries === 'structured';
      const last = { t: 'done', n, output: wholeValue(answer, isStructured) } as const;
      requireSerialisable('answer', answer, () => this.#close(handling, last, isStructured));
    } catch (error) {
      this.fail(handling, error);
    }
  }

  fail(handling: ChildHandling, error: unknown): void {
    if (!this.#isOpen(handling)) return;
    if (this.#diesOf(error)) this.#queue.stop();
    this.#close(handling, { t: 'failed', n: handling.n, error: thrownOf(error) });
  }

  /** By a code it only declines. */
  #diesOf(error: unknown): boolean {
    return !isOrreryError(error) && this.#definition.options.onThrow !== 'keep';
  }

  async #start(self: string, from: Snapshot | undefined): Promise<void> {
    this.self = self;
    try {
      const kept = from && stateFrom(this.#definition, from);
      const made = await this.#definition.start?.(this.#life);
      const { actorLogic } = this.#definition;
      this.state = actorLogic === undefined && kept !== undefined ? kept.state : made;
      if (actorLogic !== undefined) {
        const deps = {
          clock: this.seams.clock,
          onError: (error: unknown) => this.#end({ t: 'lost', error: thrownOf(error) }),
          onDone: () => this.#end({ t: 'exited' }),
          watch: this.#steps,
        };
        try {
          this.#logic = new LogicRunner(actorLogic, made, deps, kept);
        } catch (error) {
          throw from === undefined ? error : notRestored(this.#definition, from, error);
        }
      }
      this.host.say({ t: 'ready' });
    } catch (error) {
      this.host.say({ t: 'unready', error: thrownOf(error) });
    }
  }

  #leave(): void {
    try {
      const left = this.#logic === undefined ? { state: this.state } : this.#logic.leave();
      const of = { agentId: this.self, atMs: this.seams.clock.now() };
      const snapshot = left && takeSnapshot(this.#definition, left, of);
      if (snapshot === undefined) return this.host.say({ t: 'left' });
      const { machineId, version, hash, state } = snapshot;
      this.host.say({ t: 'left', state: { machineId, version, hash, state } });
    } catch (error) {
      this.host.say({ t: 'left', error: thrownOf(error) });
    }
  }

  /** Its life is over, as the host will find: nothing more is begun. */
  #end(why: GivenChildFrame): void {
    this.#queue.stop();
    this.host.say(why);
  }

  async #stop(): Promise<void> {
    this.#queue.stop();
    this.#logic?.stop();
    try {
      await this.#definition.stop?.(this.#life as never);
      this.host.say({ t: 'ended' });
    } catch (error) {
      this.host.say({ t: 'ended', error: thrownOf(error) });
    }
  }

  #handle(work: GivenWork): void {
    const handling = new ChildHandling(this, work);
    this.#handlings.set(work.n, handling);
    this.host.sayNow({ t: 'begun', n: work.n });
    try {
      const result = this.#dispatch(handling, work);
      if (handling.isOver || result === PENDING) return;
      if (!isThenable(result)) this.finish(handling, result);
      else
        result.then(
          (output) => this.finish(handling, output),
          (error: unknown) => this.fail(handling, error),
        );
    } catch (error) {
      this.fail(handling, error);
    }
  }

  #dispatch(handling: ChildHandling, { envelope, isRead }: GivenWork): unknown {
    const { type, payload, metadata } = envelope;
    const capability = metadata?.capability;
    const entry = entryOf(this.#definition, capability);
    if (entry === undefined) {
      if (this.#logic !== undefined) return this.#send(this.#logic, capability ?? type, payload, handling);
      return envelopeHandlerOf(this.#definition, this.self, type, capability)(envelope, handling);
    }
    refuseOtherKind(entry, isRead, this.self);
    handling.entry = entry;
    const input = parseInput(entry.capability, payload);
    if (this.#logic !== undefined && entry.isContent !== true)
      return this.#send(this.#logic, capability ?? type, input, handling);
    if (entry.kind === 'stream') return streamOut(entry, input, handling, this);
    return entry.run(input as never, handling as never);
  }

  #send(logic: LogicRunner, name: string, input: unknown, handling: ChildHandling): unknown {
    return logic.handle(name, input, handling) ? undefined : PENDING;
  }

  #abort(n: number, reason: OrreryError): void {
    if (this.#queue.drop(n)) this.host.say({ t: 'failed', n, error: thrownOf(reason) });
    else this.#handlings.get(n)?.cutOff(reason);
  }

  #isOpen(handling: ChildHandling): boolean {
    return handling.n > 0 && !handling.isOver;
  }

  #close(
    handling: ChildHandling,
    last: GivenChildFrame & { t: 'done' | 'failed' },
    isStructured = false,
  ): void {
    this.host.say(last, isStructured);
    handling.isOver = true;
    this.#handlings.delete(handling.n);
    this.#queue.done(handling.n);
  }
}

function thrownOf(error: unknown): ThrownData {
  const coded = isOrreryError(error) ? { coded: errorToData(error) } : {};
  return { name: nameOf(error), message: reasonOf(error), stack: stackOf(error, true), ...coded };
}

/** Anything can be thrown, also what throws when it is looked at. */
function nameOf(error: unknown): string {
  try {
    return error instanceof Error ? String(error.name) : 'Error';
  } catch {
    return 'Error';
  }
}

/** Sends the host what a stream's handler yields, as much as it has asked for. Resolves when the handler ends. */
async function streamOut(
  entry: HandlerEntry,
  input: unknown,
  handling: ChildHandling,
  { self, host }: HandlingAgent,
): Promise<void> {
  const { n, signal } = handling;
  const isStructured = entry.capability.carries === 'structured';
  for await (const chunk of entry.run(input as never, handling as never) as AsyncIterable<unknown>) {
    const value = parseOutput(entry.capability, chunk, self);
    while (handling.credit <= 0 && !signal.aborted) {
      await new Promise<void>((resolve) => {
        handling.wake = resolve;
      });
    }
    signal.throwIfAborted();
    handling.credit -= 1;
    const whole = wholeValue(value, isStructured);
    requireSerialisable('answer', value, () => host.say({ t: 'chunk', n, value: whole }, isStructured));
  }
}
