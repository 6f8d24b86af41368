import type { JudgePolicy } from '../protocol/policy.ts';
import { systemSeams } from '../protocol/system-seams.ts';
import { exposeApi } from './calls.ts';
import { Control, type ControlOptions } from './control.ts';
import { nodeEventLoop } from './event-loop.ts';
import { NodeSpawner } from './node-spawner.ts';
import { type PlaceBoot, PlaceHost } from './place-host.ts';
import type { Port } from './port.ts';
import type { SeatMemories } from './seat.ts';

/** What a thread is started as. Ports are still in the form in which they crossed. */
export type ThreadBoot =
  | {
      readonly role: 'place';
      readonly boot: PlaceBoot;
      readonly workerOptions: unknown;
      readonly api: unknown;
    }
  /** Gets ready to be a place, and becomes one by the first message on its line: the boot data of that place. */
  | { readonly role: 'spare'; readonly workerOptions: unknown }
  | {
      readonly role: 'control';
      readonly options: ControlOptions;
      readonly workerOptions: unknown;
      readonly hostSeat: SeatMemories;
      readonly hostLine: unknown;
      readonly hostApi: unknown;
      readonly api: unknown;
      readonly beat: SharedArrayBuffer;
    };

export interface ThreadDeps {
  readonly data: { readonly boot: ThreadBoot; readonly line: unknown };
  /** The file that this thread runs; new threads run it too. */
  readonly entry: URL;
  readonly makePolicies: (options: unknown) => Promise<readonly JudgePolicy[]>;
}

/** Becomes the control thread or a place, as the boot data says. */
export async function bootThread({ data, entry, makePolicies }: ThreadDeps): Promise<void> {
  const spawner = new NodeSpawner(entry);
  const { boot } = data;
  const line = spawner.received(data.line);
  if (boot.role === 'control') {
    bootControl(boot, spawner, line);
    return;
  }
  const policies = await makePolicies(boot.workerOptions);
  if (boot.role === 'place') bootPlace(boot, spawner, line, policies);
  else awaitPlace(spawner, line, policies);
}

function bootControl(boot: ThreadBoot & { role: 'control' }, spawner: NodeSpawner, line: Port): void {
  const control = new Control({
    seams: systemSeams(),
    spawner,
    options: boot.options,
    workerOptions: boot.workerOptions,
    hostLine: spawner.received(boot.hostLine),
    hostApi: spawner.received(boot.hostApi),
    hostSeat: boot.hostSeat,
    beat: boot.beat,
  });
  exposeApi(control, spawner.received(boot.api));
  // The line holds the thread: it ends when its starter ends it.
  line.onMessage(() => undefined);
  line.hold();
}

function awaitPlace(spawner: NodeSpawner, line: Port, policies: readonly JudgePolicy[]): void {
  let isTaken = false;
  line.onMessage((message) => {
    if (isTaken) return;
    isTaken = true;
    bootPlace(message as ThreadBoot & { role: 'place' }, spawner, line, policies);
  });
  line.hold();
}

function bootPlace(
  { boot, api }: ThreadBoot & { role: 'place' },
  spawner: NodeSpawner,
  line: Port,
  policies: readonly JudgePolicy[],
): void {
  const host = new PlaceHost({
    boot,
    seams: systemSeams(),
    policies,
    line,
    received: (port) => spawner.received(port),
    loop: nodeEventLoop(),
    inline: new Map(),
  });
  line.hold();
  const report = (error: unknown): void => host.place.noteStray(error);
  process.on('uncaughtException', report);
  process.on('unhandledRejection', report);
  exposeApi(host, spawner.received(api));
}
