import type { ThreadSeams } from './boot-thread.ts';
import type { ThreadBoot } from '../control/control-calls.ts';
import { Connection } from '../link/connection.ts';
import { ThreadHost, type ThreadHostDeps } from '../thread/thread-host.ts';
import type { Port } from '../link/port.ts';

/** What the composition root has made for a place. */
export type MadeForNode = Pick<ThreadHostDeps, 'policies'> &
  Partial<
    Pick<ThreadHostDeps, 'interceptors' | 'processSpawner' | 'inline' | 'outside' | 'makeActor' | 'rings'>
  >;

/** Has the thread be the place that the boot data describes. */
export function bootNode(
  { boot }: ThreadBoot & { role: 'place' },
  { spawner, seams, loop, onStray, onPlace }: ThreadSeams,
  port: Port,
  made: MadeForNode,
): void {
  const host = new ThreadHost({
    inline: new Map(),
    ...made,
    boot,
    seams,
    control: new Connection(port),
    received: (link) => spawner.received(link),
    loop,
  });
  port.hold();
  onStray((error) => host.node.noteStray(error));
  onPlace?.(host);
}
