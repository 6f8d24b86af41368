import type { ThreadSeams } from './boot-thread.ts';
import type { ThreadBoot } from '../control/control-calls.ts';
import { Connection } from '../link/connection.ts';
import { type HostDeps, ThreadHost } from '../thread/thread-host.ts';
import type { Port } from '../link/port.ts';

/** Has the thread be the place that the boot data describes. */
export function bootNode(
  { boot }: ThreadBoot & { role: 'place' },
  { spawner, seams, loop, rings, onStray, onPlace }: ThreadSeams,
  port: Port,
  deps: HostDeps,
): void {
  const received = (link: unknown): Port => spawner.received(link);
  const host = new ThreadHost(boot, { seams, loop, control: new Connection(port), received, rings }, deps);
  port.hold();
  onStray((error) => host.node.noteStray(error));
  onPlace?.(host);
}
