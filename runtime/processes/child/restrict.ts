import { Worker } from 'node:worker_threads';

/** What of a process its agent's code may keep although the runtime has no more use for it. */
export interface KeptAbilities {
  readonly worker: boolean;
  readonly child: boolean;
}

/** Starts the thread that watches the host. Resolves when it does. */
export function startLifeline(): Promise<void> {
  const watching = Promise.withResolvers<void>();
  const thread = new Worker(new URL('./lifeline.worker.ts', import.meta.url), { name: 'lifeline' });
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
 * Node's permissions do not cover signals: by one of them a process could end its host.
 */
export function giveUp({ worker, child }: KeptAbilities): void {
  if (!worker) {
    if (typeof process.permission?.drop !== 'function') {
      throw new Error(
        `Node ${process.version} cannot give up a permission, which a process of its own needs`,
      );
    }
    process.permission.drop('worker');
  }
  if (child) return;
  for (const name of ['kill', '_kill', '_debugProcess', '_debugEnd']) {
    Object.defineProperty(process, name, { value: refuse(name), writable: false, configurable: false });
  }
}

function refuse(name: string): () => never {
  return () => {
    const error = new Error(`process.${name} is not permitted to an agent without permissions.childProcess`);
    throw Object.assign(error, { code: 'ERR_ACCESS_DENIED' });
  };
}
