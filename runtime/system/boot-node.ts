import type { Surroundings } from './boot-thread.ts';
import type { ThreadBoot } from '../control/thread-boot.ts';
import { exposeApi } from '../link/calls.ts';
import { ThreadHost, type ThreadHostDeps } from '../thread/thread-host.ts';
import type { Port } from '../link/port.ts';

/** What the composition root has made for a place. */
export type MadeForNode = Pick<ThreadHostDeps, 'policies'> &
  Partial<
    Pick<ThreadHostDeps, 'interceptors' | 'processSpawner' | 'inline' | 'outside' | 'makeActor' | 'rings'>
  >;

/** Has the thread be the place that the boot data describes. */
export function bootNode(
  { boot, api }: ThreadBoot & { role: 'place' },
  { spawner, seams, loop, onStray, onPlace }: Surroundings,
  line: Port,
  made: MadeForNode,
): void {
  const host = new ThreadHost({
    inline: new Map(),
    ...made,
    boot,
    seams,
    line,
    received: (port) => spawner.received(port),
    loop,
  });
  line.hold();
  onStray((error) => host.node.noteStray(error));
  exposeApi(host, spawner.received(api));
  onPlace?.(host);
}
