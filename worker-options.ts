import type { PolicyOptions } from './policies/index.ts';

/** What the threads of a system are made with. `tracing`: the URL of the module that registers who traces. */
export interface WorkerOptions {
  readonly policies: PolicyOptions;
  readonly tracing: string | undefined;
}
