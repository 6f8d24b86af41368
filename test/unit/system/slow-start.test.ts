import { describe, expect, it } from 'vitest';
import { STATUS } from '../../../runtime/mailbox/status-words.ts';
import { newAccountMemory } from '../../../runtime/budget/account-memory.ts';
import { newAgentStatusMemory } from '../../../runtime/routing/agent-status-memory.ts';
import { moduleInvalid } from '../../../runtime/protocol/errors.ts';
import { systemSeams } from '../../../runtime/protocol/system-seams.ts';
import { createSystem } from '../../../runtime/system/create-system.ts';
import { ControlWatch, newControlBeat } from '../../../runtime/system/control-watch.ts';
import { parseSystemOptions } from '../../../runtime/system/system-options.ts';
import type { ThreadBoot } from '../../../runtime/control/control-calls.ts';
import { Connection } from '../../../runtime/link/connection.ts';
import { Control } from '../../../runtime/control/control.ts';
import { NodeSpawner } from '../../../runtime/link/node-spawner.ts';
import { newThreadMemories } from '../../../runtime/control/thread-incarnation.ts';
import type { Port } from '../../../runtime/link/port.ts';
import type { Spawner } from '../../../runtime/link/spawner.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { rejection } from '../../fixtures/until.ts';

const STARTING = { quietMs: 30_000, computeMs: 30_000 };
const MODULE = 'file:///slow.agent.ts';

/** Threads that are none: `onSpawn` gets what they are started as, and their ends of their ports. */
function silentSpawner(
  cpuMs: () => number,
  onSpawn: (boot: ThreadBoot, port: Port) => void = () => undefined,
) {
  const real = new NodeSpawner(new URL('file:///nowhere.ts'));
  const ended: string[] = [];
  const spawner: Spawner = {
    spawn: (name, boot) => {
      const [port, theirs] = real.channel();
      onSpawn(boot as ThreadBoot, theirs);
      return {
        threadId: 1,
        port,
        cpuMs: async () => cpuMs(),
        usage: () => undefined,
        terminate: async () => void ended.push(name),
        onExit: () => undefined,
      };
    },
    channel: () => real.channel(),
    transferable: (port) => real.transferable(port),
    received: (value) => real.received(value),
    endProcess: () => undefined,
  };
  return { spawner, ended };
}

describe('A system whose control thread', () => {
  it('does nothing fails to start with what did not get ready, and what it waited for', async () => {
    const clock = new FakeClock();
    const { spawner, ended } = silentSpawner(() => 0);
    const deps = { seams: { ...systemSeams(), clock }, spawner, policies: [], workerOptions: {} };
    const failing = rejection(createSystem(deps, { starting: { quietMs: 5_000 } }));
    await clock.advanceAsync(6_000);
    const { code, message } = await failing;
    expect(code).toBe('START_FAILED');
    expect(message).toBe(
      'Starting failed: the control thread was to run the system, and did not get ready: ' +
        'for 5 s it said nothing and used no processor time',
    );
    expect(ended).toContain('orrery-control');
    expect(clock.pending).toBe(0);
  });
});

/** A control thread, without a thread, that starts workers which are none. `host`: the embedder's end of its port. */
async function controlOf({ spawner }: { readonly spawner: Spawner }) {
  const clock = new FakeClock();
  const hostIncarnation = newThreadMemories();
  const [port, host] = spawner.channel();
  const { agents: _, policies: __, ...options } = parseSystemOptions({});
  const control = new Control(
    {
      role: 'control',
      options: { ...options, isLogged: false },
      workerOptions: {},
      hostIncarnation,
      accounts: newAccountMemory(),
      agentStatus: newAgentStatusMemory(),
      beat: newControlBeat(),
    },
    { seams: { ...systemSeams(), clock }, spawner, host: port },
  );
  await control.boot();
  const order = { module: MODULE, isInline: false, process: undefined, ids: undefined };
  const starting = rejection(control.start([{ ...order, lazy: undefined, card: undefined }]));
  return { clock, starting, control, hostIncarnation, host };
}

describe('A worker thread', () => {
  it('that does nothing fails the start with its name, and with the module that it was to load', async () => {
    const silent = silentSpawner(() => 0);
    const { clock, starting } = await controlOf(silent);
    await clock.advanceAsync(31_000);
    const { code, message } = await starting;
    expect(code).toBe('START_FAILED');
    expect(message).toBe(
      `Starting failed: the thread worker-1 was to load ${MODULE}, and did not get ready: ` +
        'for 30 s it said nothing and used no processor time',
    );
    expect(silent.ended).toEqual(['worker-1']);
  });

  it('that hardly gets any processor time is waited for, and heard when it is there', async () => {
    let cpuMs = 0;
    const place = Promise.withResolvers<Port>();
    const slow = silentSpawner(
      () => cpuMs,
      ({ role }, port) => {
        if (role === 'place') place.resolve(port);
      },
    );
    const { clock, starting } = await controlOf(slow);
    for (let at = 0; at < 1_200; at++) {
      cpuMs += 4;
      await clock.advanceAsync(500);
    }
    expect(slow.ended).toEqual([]);
    const load = async (): Promise<never> => {
      throw moduleInvalid(MODULE, 'it is there by now, and exports no agent');
    };
    new Connection(await place.promise).serve({ load });
    expect((await starting).message).toContain('it is there by now');
  });
});

/** A control thread that has used so much processor time, and is watched. */
function watchedControl() {
  const clock = new FakeClock();
  const memory = newControlBeat();
  const lost: string[] = [];
  const control = { clock, beat: new Int32Array(memory), cpuMs: 0, isRunnable: false, lost };
  const onLost = (error: Error) => void lost.push(error.message);
  const footing = async () => ({ cpuMs: control.cpuMs, isRunnable: control.isRunnable });
  new ControlWatch(memory, { clock, footing, onLost }, STARTING);
  return control;
}

describe('The control thread', () => {
  it('may take ten minutes to start on a machine that has hardly any time for it', async () => {
    const control = watchedControl();
    for (let at = 0; at < 1_200; at++) {
      control.cpuMs += 4;
      await control.clock.advanceAsync(500);
    }
    expect(control.lost).toEqual([]);
  });

  it('that runs is lost when it does nothing for 3 s, or computes for 3 s without a pause', async () => {
    for (const cpuMs of [0, 500]) {
      const control = watchedControl();
      control.beat[0] = 1;
      await control.clock.advanceAsync(1_000);
      for (let at = 0; at < 8; at++) {
        control.cpuMs += cpuMs;
        await control.clock.advanceAsync(500);
      }
      const why =
        cpuMs === 0
          ? 'for 3 s it said nothing and used no processor time'
          : 'it computed for 3 s without a pause';
      expect(control.lost).toEqual([`The control thread is gone: ${why}`]);
    }
  });

  it('that runs is not lost when it gets a little processor time now and then', async () => {
    const control = watchedControl();
    control.beat[0] = 1;
    for (let at = 0; at < 60; at++) {
      control.cpuMs += 20;
      await control.clock.advanceAsync(500);
    }
    expect(control.lost).toEqual([]);
  });

  it('that could run and gets no processor is not lost, and is lost when it does nothing although it could', async () => {
    const control = watchedControl();
    control.beat[0] = 1;
    control.isRunnable = true;
    await control.clock.advanceAsync(600_000);
    expect(control.lost).toEqual([]);
    control.isRunnable = false;
    await control.clock.advanceAsync(4_000);
    expect(control.lost).toHaveLength(1);
  });
});

describe('The roster', () => {
  it('is not told before all is heard that the nodes had reported when it was asked for', async () => {
    const { control, hostIncarnation, host } = await controlOf(silentSpawner(() => 0));
    const status = new Int32Array(hostIncarnation.status);
    let isTold = false;
    const tell = async (): Promise<void> => {
      await control.roster();
      isTold = true;
    };
    const report = async (): Promise<void> => {
      host.post({ t: 'loaded', ref: -1 });
      for (let turns = 0; turns < 5; turns++) await new Promise((resolve) => setImmediate(resolve));
    };
    status[STATUS.reported] = 2;
    const told = tell();
    // Of what is reported later it knows nothing.
    status[STATUS.reported] = 3;
    await report();
    expect(isTold).toBe(false);
    await report();
    await told;
    expect(isTold).toBe(true);
    host.close();
  });
});
