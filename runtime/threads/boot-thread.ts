import type { Attendant } from '../actor/attendant.ts';
import { NodeProcessSpawner } from '../processes/node-process-spawner.ts';
import type { JudgePolicy } from '../protocol/policy.ts';
import { systemSeams } from '../protocol/system-seams.ts';
import { exposeApi } from './calls.ts';
import { Control, type ControlOptions } from './control.ts';
import { nodeEventLoop } from './event-loop.ts';
import { NodeSpawner } from './node-spawner.ts';
import { type PlaceBoot, PlaceHost, type PlaceHostDeps } from './place-host.ts';
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
      readonly accounts: SharedArrayBuffer;
      readonly beat: SharedArrayBuffer;
    };

export interface ThreadDeps {
  readonly data: { readonly boot: ThreadBoot; readonly line: unknown };
  /** The file that this thread runs; new threads run it too. */
  readonly entry: URL;
  /** The file that the processes of agents run. */
  readonly processEntry: URL;
  readonly makePolicies: (options: unknown) => Promise<readonly JudgePolicy[]>;
  /** Who attends to the agents of a place. @default nobody */
  readonly attendants?: readonly Attendant[];
}

/** Becomes the control thread or a place, as the boot data says. */
export async function bootThread(deps: ThreadDeps): Promise<void> {
  const { data, entry, processEntry, makePolicies, attendants = [] } = deps;
  const spawner = new NodeSpawner(entry);
  const { boot } = data;
  const line = spawner.received(data.line);
  if (boot.role === 'control') {
    bootControl(boot, spawner, line);
    return;
  }
  const policies = await makePolicies(boot.workerOptions);
  const { clock } = systemSeams();
  const processSpawner = new NodeProcessSpawner({ entry: processEntry, clock });
  const made = { policies, attendants, processSpawner };
  if (boot.role === 'place') bootPlace(boot, spawner, line, made);
  else awaitPlace(spawner, line, made);
}

/** What the composition root has made for a place. */
type MadeForPlace = Pick<PlaceHostDeps, 'policies' | 'attendants' | 'processSpawner'>;

function bootControl(boot: ThreadBoot & { role: 'control' }, spawner: NodeSpawner, line: Port): void {
  const control = new Control({
    seams: systemSeams(),
    spawner,
    options: boot.options,
    workerOptions: boot.workerOptions,
    hostLine: spawner.received(boot.hostLine),
    hostApi: spawner.received(boot.hostApi),
    hostSeat: boot.hostSeat,
    accounts: boot.accounts,
    beat: boot.beat,
  });
  exposeApi(control, spawner.received(boot.api));
  // The line holds the thread: it ends when its starter ends it.
  line.onMessage(() => undefined);
  line.hold();
}

function awaitPlace(spawner: NodeSpawner, line: Port, made: MadeForPlace): void {
  let isTaken = false;
  line.onMessage((message) => {
    if (isTaken) return;
    isTaken = true;
    bootPlace(message as ThreadBoot & { role: 'place' }, spawner, line, made);
  });
  line.hold();
}

function bootPlace(
  { boot, api }: ThreadBoot & { role: 'place' },
  spawner: NodeSpawner,
  line: Port,
  made: MadeForPlace,
): void {
  const host = new PlaceHost({
    boot,
    ...made,
    seams: systemSeams(),
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
