import type { Surroundings } from './boot-thread.ts';
import type { ThreadBoot } from '../control/thread-boot.ts';
import { exposeApi } from '../link/calls.ts';
import { PlaceHost, type PlaceHostDeps } from '../thread/place-host.ts';
import type { Port } from '../link/port.ts';

/** What the composition root has made for a place. */
export type MadeForPlace = Pick<PlaceHostDeps, 'policies'> &
  Partial<
    Pick<PlaceHostDeps, 'attendants' | 'processSpawner' | 'inline' | 'outside' | 'makeActor' | 'rings'>
  >;

/** Has the thread be the place that the boot data describes. */
export function bootPlace(
  { boot, api }: ThreadBoot & { role: 'place' },
  { spawner, seams, loop, onStray, onPlace }: Surroundings,
  line: Port,
  made: MadeForPlace,
): void {
  const host = new PlaceHost({
    inline: new Map(),
    ...made,
    boot,
    seams,
    line,
    received: (port) => spawner.received(port),
    loop,
  });
  line.hold();
  onStray((error) => host.place.noteStray(error));
  exposeApi(host, spawner.received(api));
  onPlace?.(host);
}
