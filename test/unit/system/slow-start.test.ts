import { describe, expect, it } from 'vitest';
import { newAccountMemory } from '../../../runtime/budget/account-memory.ts';
import { newAgentWords } from '../../../runtime/routing/agent-words.ts';
import { moduleInvalid } from '../../../runtime/protocol/errors.ts';
import { systemSeams } from '../../../runtime/protocol/system-seams.ts';
import { createSystem } from '../../../runtime/system/create-system.ts';
import { ControlWatch, newControlBeat } from '../../../runtime/system/control-watch.ts';
import { parseSystemOptions } from '../../../runtime/system/system-options.ts';
import type { ThreadBoot } from '../../../runtime/control/thread-boot.ts';
import { exposeApi } from '../../../runtime/link/calls.ts';
import { Control } from '../../../runtime/control/control.ts';
import { NodeSpawner } from '../../../runtime/link/node-spawner.ts';
import { newThreadMemories } from '../../../runtime/control/thread-incarnation.ts';
import type { Spawner } from '../../../runtime/link/spawner.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { rejection } from '../../fixtures/until.ts';

const STARTING = { quietMs: 30_000, computeMs: 30_000 };
const MODULE = 'file:///slow.agent.ts';

/** Threads that are none: what `answers` says is all that they do. */
function silentSpawner(cpuMs: () => number, answers: (boot: ThreadBoot) => void = () => undefined) {
  const real = new NodeSpawner(new URL('file:///nowhere.ts'));
  const ended: string[] = [];
  const spawner: Spawner = {
    spawn: (name, boot) => {
      answers(boot as ThreadBoot);
      return {
        threadId: 1,
        line: real.channel()[0],
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

/** A control thread, without a thread, that starts workers which are none. */
async function controlOf({ spawner }: { readonly spawner: Spawner }) {
  const clock = new FakeClock();
  const [hostLine, hostApi] = [spawner.channel()[0], spawner.channel()[0]];
  const { agents: _, policies: __, ...options } = parseSystemOptions({});
  const control = new Control({
    ...{ seams: { ...systemSeams(), clock }, spawner, options, workerOptions: {} },
    ...{
      hostLine,
      hostApi,
      hostIncarnation: newThreadMemories(),
      accounts: newAccountMemory(),
      agentWords: newAgentWords(),
      beat: newControlBeat(),
    },
  });
  await control.boot();
  const order = { module: MODULE, isInline: false, process: undefined, ids: undefined };
  const starting = rejection(control.start([{ ...order, lazy: undefined, card: undefined }]));
  return { clock, starting };
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
    let api: unknown;
    const slow = silentSpawner(
      () => cpuMs,
      (boot) => {
        if (boot.role === 'place') ({ api } = boot);
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
    exposeApi({ load }, slow.spawner.received(api));
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
