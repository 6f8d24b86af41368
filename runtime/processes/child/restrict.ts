import { syncBuiltinESMExports } from 'node:module';
import os from 'node:os';
import v8 from 'node:v8';
import { Worker } from 'node:worker_threads';

/** What of a process its agent's code may keep although the runtime has no more use for it. */
export interface RemainingAbilities {
  readonly worker: boolean;
  readonly child: boolean;
  readonly sqlite: boolean;
  /** Reading in `/proc`: the thread that watches the host does that for itself. */
  readonly proc: boolean;
}

/** Starts the thread that watches the host. Resolves when it does. `hasFamily`: it ends what the process starts, too. */
export function startLifeline(hasFamily: boolean): Promise<void> {
  const watching = Promise.withResolvers<void>();
  const thread = new Worker(new URL('./lifeline.worker.ts', import.meta.url), {
    name: 'lifeline',
    workerData: { hasFamily },
  });
  thread.once('message', () => {
    thread.unref();
    watching.resolve();
  });
  thread.once('error', watching.reject);
  return watching.promise;
}

/**
 * Gives up what only the runtime needed, before anybody's code is loaded. Throws when this Node cannot.
 *
 * Node's permissions do not cover some of what reaches beyond the process: signals and priorities of others, the flags of
 * V8, some of which have it write files, and SQLite.
 */
export function giveUp({ worker, child, sqlite, proc }: RemainingAbilities): void {
  if (!worker) drop('worker');
  if (!proc) drop('fs.read', '/proc');
  if (!sqlite && process.getBuiltinModule('node:sqlite') !== undefined) {
    throw new Error(`Node ${process.version} cannot do without node:sqlite, which reads and writes any file`);
  }
  take(v8, 'v8', ['setFlagsFromString'], 'an agent in a process of its own');
  if (child) return;
  const whom = 'an agent without permissions.childProcess';
  take(process, 'process', ['kill', '_kill', '_debugProcess', '_debugEnd'], whom);
  take(os, 'os', ['setPriority'], whom);
}

/** A thread that has started keeps what the main thread gives up. */
function drop(permission: string, path?: string): void {
  if (typeof process.permission?.drop !== 'function') {
    throw new Error(`Node ${process.version} cannot give up a permission, which a process of its own needs`);
  }
  process.permission.drop(permission, path);
}

/** Takes functions away from all code of this thread, however it comes to the module. */
function take(module: object, called: string, names: readonly string[], whom: string): void {
  for (const name of names) {
    const value = refuse(`${called}.${name} is not permitted to ${whom}`);
    Object.defineProperty(module, name, { value, writable: false, configurable: false });
  }
  syncBuiltinESMExports();
}

function refuse(message: string): () => never {
  return () => {
    throw Object.assign(new Error(message), { code: 'ERR_ACCESS_DENIED' });
  };
}
