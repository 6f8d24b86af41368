import type { Port } from '../link/port.ts';
import type { Channel, Spawned, Spawner } from '../link/spawner.ts';
import type { Scheduler } from './scheduler.ts';
import { type PortToken, VirtualPort, type VirtualPortDeps } from './virtual-port.ts';
import type { ThreadHome, VirtualThread } from './virtual-thread.ts';

/** The time until a new thread runs, milliseconds. */
const START_MS = [5, 40] as const;
/** The time from the end of a thread until its starter is told, milliseconds. */
const NEWS_MS = [0.05, 2] as const;

export interface VirtualThreadsDeps extends Pick<VirtualPortDeps, 'delayMs'> {
  readonly scheduler: Scheduler;
  readonly between: (least: number, most: number) => number;
  /** Boots a thread with its boot data. */
  readonly boot: (thread: VirtualThread, boot: unknown, port: Port, spawner: Spawner) => void | Promise<void>;
  readonly home?: ThreadHome;
}

/** The ports and threads of one node. */
export class VirtualThreads {
  /** All threads of all its lives. */
  readonly all: VirtualThread[] = [];
  readonly #deps: VirtualThreadsDeps;
  readonly #ports: VirtualPort[] = [];
  readonly #portDeps: VirtualPortDeps;

  constructor(deps: VirtualThreadsDeps) {
    this.#deps = deps;
    const { scheduler, delayMs } = deps;
    this.#portDeps = { scheduler, delayMs, portOf: (token) => this.#portOf(token) };
  }

  newThread(name: string): VirtualThread {
    const { scheduler, home } = this.#deps;
    const thread = scheduler.newThread(name);
    thread.home = home;
    this.all.push(thread);
    return thread;
  }

  /** The spawner of a thread. */
  spawnerOf(owner: VirtualThread): Spawner {
    return {
      spawn: (name, boot, transfer) => this.#spawn(owner, name, boot, transfer),
      channel: () => this.#channel(owner),
      endProcess: () => undefined,
      transferable: (port) => (port as VirtualPort).token,
      received: (token) => this.#received(owner, token),
    };
  }

  #spawn(owner: VirtualThread, name: string, boot: unknown, transfer: readonly unknown[]): Spawned {
    const { scheduler, between } = this.#deps;
    const thread = this.newThread(name);
    const [port, theirs] = this.#channel(owner);
    const copy = structuredClone(boot);
    for (const token of transfer) this.#received(thread, token);
    (theirs as VirtualPort).owner = thread;
    const booted = owner.localMs + between(...START_MS);
    let reason = 'it exited';
    thread.onStray = (error) => {
      reason = error instanceof Error ? error.message : String(error);
      scheduler.end(thread);
    };
    scheduler.schedule(thread, booted, () => {
      void this.#deps.boot(thread, copy, theirs, this.spawnerOf(thread));
    });
    const gone = Promise.withResolvers<void>();
    const listeners: ((reason: string) => void)[] = [];
    thread.onOver.push(() => {
      for (const port of this.#ports) if (port.owner === thread && port !== theirs) port.close();
      const goneMs = Math.max(scheduler.nowMs, thread.freeAtMs);
      scheduler.schedule(owner, goneMs + between(...NEWS_MS), () => {
        (port as VirtualPort).drain();
        theirs.close();
        gone.resolve();
        for (const listener of listeners) listener(reason);
      });
    });
    return {
      threadId: thread.number,
      port,
      cpuMs: () => Promise.resolve(thread.cpuMs),
      usage: () => undefined,
      terminate: () => {
        scheduler.end(thread);
        return gone.promise;
      },
      onExit: (listener) => listeners.push(listener),
    };
  }

  #channel(owner: VirtualThread): Channel {
    const one = this.#port(owner);
    const other = this.#port(owner);
    one.peer = other;
    other.peer = one;
    return [one, other];
  }

  #port(owner: VirtualThread): VirtualPort {
    const port = new VirtualPort(this.#portDeps, this.#ports.length, owner);
    this.#ports.push(port);
    return port;
  }

  #portOf(token: unknown): VirtualPort | undefined {
    return this.#ports[(token as PortToken).virtualPort];
  }

  #received(owner: VirtualThread, token: unknown): VirtualPort {
    const port = this.#portOf(token) as VirtualPort;
    port.owner = owner;
    // The thread may have ended before the port arrived.
    if (owner.isOver) port.close();
    return port;
  }
}
