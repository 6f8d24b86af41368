import type { Interceptor } from '../cell/interceptor.ts';
import type { SystemEvent } from '../protocol/system-event.ts';
import type { StartedRings } from '../journal/started-ring.ts';
import { ownThreadNumber } from '../os/proc-usage.ts';
import type { JudgePolicy } from '../protocol/policy.ts';
import type { Seams, EventLoop } from '../protocol/seams.ts';
import type { Tracer } from '../protocol/tracer.ts';
import type { Store } from '../protocol/store.ts';
import { systemSeams, nodeEventLoop } from '../protocol/system-seams.ts';
import { Connection } from '../link/connection.ts';
import type { ControlBoot, ThreadBoot } from '../control/control-calls.ts';
import type { Control } from '../control/control.ts';
import type { JournalCalls, JournalOrder, JournalReport } from '../journal/journal-thread.ts';
import { NodeSpawner } from '../link/node-spawner.ts';
import type { HostDeps, ThreadHost } from '../thread/thread-host.ts';
import type { Port } from '../link/port.ts';
import type { Spawner } from '../link/spawner.ts';

export interface ThreadDeps {
  /** `number`: where it says by which number the system knows it. */
  readonly data: { readonly boot: ThreadBoot; readonly port: unknown; readonly number: Int32Array };
  /** The files that new threads and the processes of agents run; this thread runs the first. */
  readonly entries: { readonly thread: URL; readonly process: URL };
  readonly makePolicies: (options: unknown) => Promise<readonly JudgePolicy[]>;
  /** Opens the store of a journal. */
  readonly openStore: (path: string) => Promise<Store>;
  /** The interceptors of a place. */
  readonly loadInterceptors: () => Promise<readonly Interceptor[]>;
  /** Who traces what is done in a place; undefined where nobody does. */
  readonly loadTracer: (options: unknown) => Promise<Tracer | undefined>;
}

/** What a thread has around it. */
export interface ThreadSeams {
  readonly spawner: Spawner;
  readonly seams: Seams;
  readonly loop: EventLoop;
  /** What makes a thread a place, or the control thread: the others do not pay for it. */
  readonly loadPlaces: () => Promise<typeof import('./boot-node.ts')>;
  readonly loadControl: () => Promise<typeof import('../control/control.ts')>;
  /** What a place is made of beside its boot data and its ports. */
  readonly placeDeps: (workerOptions: unknown) => Promise<HostDeps>;
  /** Who traces what is done in a place. @default nobody does */
  readonly loadTracer?: ThreadDeps['loadTracer'];
  /** Opens the store of a journal. */
  readonly openStore: (path: string) => Promise<Store>;
  /** Where a place notes what it begins on, and a journal finds what former processes had begun on. @default files */
  readonly rings?: StartedRings;
  /** Has `report` called with every error that nobody in this thread caught. */
  readonly onStray: (report: (error: unknown) => void) => void;
  /** Is told what this thread has become. */
  readonly onPlace?: (host: ThreadHost) => void;
  readonly onControl?: (control: Control) => void;
  readonly onControlEvent?: (event: SystemEvent) => void;
}

/** Becomes the control thread or a place, as the boot data says. */
export async function bootThread(deps: ThreadDeps): Promise<void> {
  const { data, entries, makePolicies, openStore, loadInterceptors, loadTracer } = deps;
  Atomics.store(data.number, 0, ownThreadNumber());
  const spawner = new NodeSpawner(entries.thread);
  const seams = { ...systemSeams(), tracer: undefined };
  await becomeThread(data.boot, spawner.received(data.port), {
    spawner,
    seams,
    loop: nodeEventLoop(),
    loadPlaces: () => import('./boot-node.ts'),
    loadControl: () => import('../control/control.ts'),
    placeDeps: async (workerOptions) => {
      const { NodeProcessSpawner } = await import('../processes/node-process-spawner.ts');
      return {
        policies: await makePolicies(workerOptions),
        interceptors: await loadInterceptors(),
        processSpawner: new NodeProcessSpawner({
          entry: entries.process,
          clock: seams.clock,
          newId: seams.newId,
        }),
      };
    },
    openStore,
    loadTracer,
    onStray: (report) => {
      process.on('uncaughtException', report);
      process.on('unhandledRejection', report);
    },
  });
}

/** Has the thread that runs this, or one of a simulation, become what the boot data says. */
export async function becomeThread(boot: ThreadBoot, port: Port, surroundings: ThreadSeams): Promise<void> {
  if (boot.role === 'control' || boot.role === 'spare-control') {
    const { Control } = await surroundings.loadControl();
    const become = (coming: ControlBoot): void => bootControl(coming, Control, surroundings, port);
    if (boot.role === 'control') become(boot);
    else awaitBoot(port, (coming) => become(coming as ControlBoot));
    return;
  }
  if (boot.role === 'journal') {
    await bootJournal(boot, surroundings, port);
    return;
  }
  const { bootNode } = await surroundings.loadPlaces();
  const [made, tracer] = await Promise.all([
    surroundings.placeDeps(boot.workerOptions),
    surroundings.loadTracer?.(boot.workerOptions),
  ]);
  const seams = tracer === undefined ? surroundings.seams : { ...surroundings.seams, tracer };
  const become = (coming: ThreadBoot): void =>
    bootNode(coming as ThreadBoot & { role: 'place' }, { ...surroundings, seams }, port, made);
  if (boot.role === 'place') become(boot);
  else awaitBoot(port, become);
}

/** Has the thread wait until its port says what it is. Whoever it becomes listens in the same turn: the next message is for it. */
function awaitBoot(port: Port, become: (boot: ThreadBoot) => unknown): void {
  let isTaken = false;
  port.onMessage((message) => {
    if (isTaken) return;
    isTaken = true;
    become(message as ThreadBoot);
  });
  port.hold();
}

function bootControl(
  boot: ControlBoot,
  make: typeof Control,
  { spawner, seams, onControl, onControlEvent }: ThreadSeams,
  port: Port,
): void {
  const control = new make(boot, { seams, spawner, host: port, onEvent: onControlEvent });
  // The port holds the thread: it ends when its starter ends it.
  port.hold();
  onControl?.(control);
}

/** Loaded where it is needed: a system without a journal does not pay for it. */
async function bootJournal(
  { options, accounts }: ThreadBoot & { role: 'journal' },
  { spawner, seams, loop, openStore, rings }: ThreadSeams,
  port: Port,
): Promise<void> {
  // What is posted meanwhile waits in the port.
  const { JournalHost } = await import('../journal/journal-host.ts');
  const control = new Connection<object, JournalReport>(port);
  const host = new JournalHost(
    { openStore, rings, accounts, seams, loop, onReport: (report) => control.tell(report) },
    options,
  );
  control.serve<JournalCalls>(host, (order) => {
    const { line, api } = order as JournalOrder;
    host.welcome(spawner.received(line), spawner.received(api));
  });
  control.hold();
}
