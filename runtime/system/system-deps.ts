import type { Interceptor } from '../cell/interceptor.ts';
import type { StartedRings } from '../journal/started-ring.ts';
import type { JudgePolicy } from '../protocol/policy.ts';
import type { Seams, EventLoop } from '../protocol/seams.ts';
import type { ThreadHost } from '../thread/thread-host.ts';
import type { Spawned, Spawner } from '../link/spawner.ts';

/** What a system is made of. `policies` judge what the embedder's thread sends; `workerOptions` make the workers' own. */
export interface SystemDeps {
  readonly seams: Seams;
  readonly spawner: Spawner;
  /** A thread of this spawner, started as `spare-control`: the control thread. @default it is started with the system */
  readonly control?: Spawned;
  readonly policies: readonly JudgePolicy[];
  readonly workerOptions: unknown;
  /** The interceptors of the embedder's thread; the workers' entry names those of the others. @default none */
  readonly interceptors?: readonly Interceptor[];
  /** How things run in the embedder's thread. @default as in a thread of Node */
  readonly loop?: EventLoop;
  /** Is given the embedder's place, before anything happens in it. */
  readonly onHost?: (host: ThreadHost) => void;
  /** Where the embedder's thread notes what it begins on, in a system with a journal. @default in files */
  readonly rings?: StartedRings;
}
