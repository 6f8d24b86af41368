import type { z } from 'zod';
import type { CpuPoolOptions } from '../agent/offload.ts';
import type { JournalOptions } from '../journal/journal-options.ts';
import type { EventLimits } from '../observe/event-limits.ts';
import type { SystemEvent } from '../protocol/system-event.ts';
import type { Seams } from '../protocol/seams.ts';
import type { ProgressLimits } from '../supervision/progress-watch.ts';
import type { Supervision, WatchdogLimits } from '../supervision/supervisor-options.ts';
import type { NodePeers } from '../thread/thread-node.ts';
import type { Port } from '../link/port.ts';
import type { ThreadMemories } from './thread-incarnation.ts';
import type { Spawner } from '../link/spawner.ts';

/** How the embedder wants the system to run, as far as the control thread sees to it. */
export interface ControlOptions {
  readonly workers: number;
  readonly broadcastToSender: boolean;
  readonly spareThread: boolean;
  readonly cpu: CpuPoolOptions;
  readonly supervision: Supervision;
  readonly watchdog: WatchdogLimits;
  readonly starting: ProgressLimits;
  readonly events: EventLimits;
  readonly peers: NodePeers | undefined;
  /** Without one nothing outlives the process. */
  readonly journal: z.output<typeof JournalOptions> | undefined;
}

/** What the control thread is given when it starts. */
export interface ControlDeps {
  readonly seams: Seams;
  readonly spawner: Spawner;
  readonly options: ControlOptions;
  /** What a worker needs to make its policies, passed on as it is. */
  readonly workerOptions: unknown;
  readonly hostLine: Port;
  readonly hostApi: Port;
  readonly hostIncarnation: ThreadMemories;
  /** The open budgets of the whole system. */
  readonly accounts: SharedArrayBuffer;
  /** A word for each agent of the system, as `AgentWords` has it. */
  readonly agentWords: SharedArrayBuffer;
  /** A number that this thread changes while it lives; the embedder's thread watches it. */
  readonly beat: SharedArrayBuffer;
  /** Is told what happens in this thread. */
  readonly onEvent?: ((event: SystemEvent) => void) | undefined;
}
