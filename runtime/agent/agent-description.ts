import type { Description } from '../processes/child-frame.ts';
import type { ProcessOptions } from './process-options.ts';

/** An agent whose code runs in a process of its own: how that is run, and what its module said of the agent. */
export interface ProcessAgent {
  readonly options: ProcessOptions;
  readonly description: Description;
}
