import { threadUsage } from '../os/proc-usage.ts';
import { reasonOf } from '../protocol/errors.ts';
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';
import { endProcess } from '../os/process-family.ts';
import { threadArguments } from '../protocol/thread-arguments.ts';
import { nodePort, type Port } from './port.ts';
import type { Spawned, Spawner } from './spawner.ts';

/** Node's message when it ends a thread that ran out of memory. */
const OUT_OF_MEMORY = 'Worker terminated due to reaching memory limit: JS heap out of memory';

/** Starts worker threads from `entry`. Their standard output is this thread's. */
export class NodeSpawner implements Spawner {
  readonly #entry: URL;
  readonly #ports = new WeakMap<Port, MessagePort>();

  constructor(entry: URL) {
    this.#entry = entry;
  }

  spawn(name: string, boot: unknown, transfer: readonly unknown[]): Spawned {
    const { port1, port2 } = new MessageChannel();
    const port = this.#wrap(port1);
    const number = new Int32Array(new SharedArrayBuffer(4));
    const worker = new Worker(this.#entry, {
      name,
      ...threadArguments(process.execArgv),
      workerData: { boot, port: port2, number },
      transferList: [port2, ...(transfer as MessagePort[])],
    });
    let reason = 'it exited';
    let isItsWord = false;
    // An unhandled 'error' would end the whole process.
    worker.on('error', (error) => {
      reason = reasonOf(error);
      isItsWord = reason !== OUT_OF_MEMORY;
    });
    const exited = new Promise<number>((resolve) => {
      worker.once('exit', resolve);
    });
    return {
      // The worker's own `threadId` is -1 once it is gone.
      threadId: worker.threadId,
      port,
      cpuMs: async () => {
        const { user, system } = await worker.cpuUsage();
        return (user + system) / 1_000;
      },
      usage: () => threadUsage(Atomics.load(number, 0)),
      terminate: async () => {
        await worker.terminate();
      },
      onExit: (listener) => {
        void exited.then((code) => {
          setImmediate(() => {
            drain(port, port1);
            listener(code === 0 || code === 1 ? reason : `${reason} (exit code ${code})`, isItsWord);
          });
        });
      },
    };
  }

  channel(): readonly [Port, Port] {
    const { port1, port2 } = new MessageChannel();
    return [this.#wrap(port1), this.#wrap(port2)];
  }

  endProcess(pid: number): void {
    endProcess(pid);
  }

  transferable(port: Port): unknown {
    return this.#ports.get(port);
  }

  received(value: unknown): Port {
    return this.#wrap(value as MessagePort);
  }

  #wrap(port: MessagePort): Port {
    const wrapped = nodePort(port);
    this.#ports.set(wrapped, port);
    return wrapped;
  }
}

/** Delivers what a dead thread had posted, before the listeners hear of its end. */
function drain(port: Port, of: MessagePort): void {
  for (let next = port.take(); next !== undefined; next = port.take()) of.emit('message', next.message);
}
