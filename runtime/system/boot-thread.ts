import type { Interceptor } from '../cell/interceptor.ts';
import type { SystemEvent } from '../protocol/system-event.ts';
import type { StartedRings } from '../journal/started-ring.ts';
import { ownThreadNumber } from '../os/proc-usage.ts';
import type { JudgePolicy } from '../protocol/policy.ts';
import type { Seams } from '../protocol/seams.ts';
import type { Store } from '../protocol/store.ts';
import { systemSeams } from '../protocol/system-seams.ts';
import type { MadeForNode } from './boot-node.ts';
import { exposeApi } from '../link/calls.ts';
import type { ThreadBoot } from '../control/thread-boot.ts';
import type { Control } from '../control/control.ts';
import { type EventLoop, nodeEventLoop } from '../protocol/event-loop.ts';
import type { JournalMessage, WriterMessage } from '../journal/journal-thread.ts';
import { NodeSpawner } from '../link/node-spawner.ts';
import type { ThreadHost } from '../thread/thread-host.ts';
import type { Port } from '../link/port.ts';
import type { Spawner } from '../link/spawner.ts';

export interface ThreadDeps {
  /** `number`: where it says by which number the system knows it. */
  readonly data: { readonly boot: ThreadBoot; readonly line: unknown; readonly number: Int32Array };
  /** The file that this thread runs; new threads run it too. */
  readonly entry: URL;
  /** The file that the processes of agents run. */
  readonly processEntry: URL;
  readonly makePolicies: (options: unknown) => Promise<readonly JudgePolicy[]>;
  /** Opens the store of a journal. */
  readonly openStore: (path: string) => Promise<Store>;
  /** Who attends to the agents of a place. */
  readonly loadInterceptors: () => Promise<readonly Interceptor[]>;
}

/** What a thread has around it. */
export interface Surroundings {
  readonly spawner: Spawner;
  readonly seams: Seams;
  readonly loop: EventLoop;
  /** What makes a thread a place, or the control thread: the others do not pay for it. */
  readonly loadPlaces: () => Promise<typeof import('./boot-node.ts')>;
  readonly loadControl: () => Promise<typeof import('../control/control.ts')>;
  /** What a place is made of beside its boot data and its ports. */
  readonly placeDeps: (workerOptions: unknown) => Promise<MadeForNode>;
  /** Opens the store of a journal. */
  readonly openStore: (path: string) => Promise<Store>;
  /** Where a journal finds what former processes had begun on. @default files */
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
  const { data, entry, processEntry, makePolicies, openStore, loadInterceptors } = deps;
  Atomics.store(data.number, 0, ownThreadNumber());
  const spawner = new NodeSpawner(entry);
  const seams = systemSeams();
  await becomeThread(data.boot, spawner.received(data.line), {
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
          entry: processEntry,
          clock: seams.clock,
          newId: seams.newId,
        }),
      };
    },
    openStore,
    onStray: (report) => {
      process.on('uncaughtException', report);
      process.on('unhandledRejection', report);
    },
  });
}

/** Has the thread that runs this, or one of a simulation, become what the boot data says. */
export async function becomeThread(boot: ThreadBoot, line: Port, surroundings: Surroundings): Promise<void> {
  if (boot.role === 'control') {
    await bootControl(boot, surroundings, line);
    return;
  }
  if (boot.role === 'spare-control') {
    await surroundings.loadControl();
    awaitBoot(line, (coming) => bootControl(coming as ThreadBoot & { role: 'control' }, surroundings, line));
    return;
  }
  if (boot.role === 'journal') {
    await bootJournal(boot, surroundings, line);
    return;
  }
  const { bootNode } = await surroundings.loadPlaces();
  const made = await surroundings.placeDeps(boot.workerOptions);
  const become = (coming: ThreadBoot): void =>
    bootNode(coming as ThreadBoot & { role: 'place' }, surroundings, line, made);
  if (boot.role === 'place') become(boot);
  else awaitBoot(line, become);
}

/** Has the thread wait until its line says what it is. */
function awaitBoot(line: Port, become: (boot: ThreadBoot) => unknown): void {
  let isTaken = false;
  line.onMessage((message) => {
    if (isTaken) return;
    isTaken = true;
    become(message as ThreadBoot);
  });
  line.hold();
}

async function bootControl(
  boot: ThreadBoot & { role: 'control' },
  around: Surroundings,
  line: Port,
): Promise<void> {
  const { spawner, seams, loadControl, onControl, onControlEvent } = around;
  const { Control } = await loadControl();
  const control = new Control({
    seams,
    spawner,
    options: boot.options,
    workerOptions: boot.workerOptions,
    hostLine: spawner.received(boot.hostLine),
    hostApi: spawner.received(boot.hostApi),
    hostIncarnation: boot.hostIncarnation,
    accounts: boot.accounts,
    agentWords: boot.agentWords,
    beat: boot.beat,
    onEvent: onControlEvent,
  });
  exposeApi(control, spawner.received(boot.api));
  // The line holds the thread: it ends when its starter ends it.
  line.onMessage(() => undefined);
  line.hold();
  onControl?.(control);
}

/** Loaded where it is needed: a system without a journal does not pay for it. */
async function bootJournal(
  { options, accounts, api }: ThreadBoot & { role: 'journal' },
  { spawner, seams, loop, openStore, rings }: Surroundings,
  line: Port,
): Promise<void> {
  // What is posted meanwhile waits in the ports.
  const { JournalDesk } = await import('../journal/journal-desk.ts');
  const received = (port: unknown): Port => spawner.received(port);
  const desk = new JournalDesk({
    options,
    openStore,
    rings,
    accounts,
    received,
    seams,
    loop,
    onFailure: (failure) => line.post({ t: 'failure', failure } satisfies JournalMessage),
    onMissing: (reason) => line.post({ t: 'missing', reason } satisfies JournalMessage),
  });
  line.onMessage((message) => desk.welcome(message as WriterMessage));
  line.hold();
  exposeApi(desk, received(api));
}
