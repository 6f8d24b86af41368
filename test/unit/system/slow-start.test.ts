import { describe, expect, it } from 'vitest';
import { systemSeams } from '../../../runtime/protocol/system-seams.ts';
import { createSystem } from '../../../runtime/system/create-system.ts';
import { ControlWatch, newControlBeat } from '../../../runtime/system/control-watch.ts';
import { NodeSpawner } from '../../../runtime/threads/node-spawner.ts';
import type { Spawner } from '../../../runtime/threads/spawner.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { rejection } from '../../fixtures/until.ts';

const STARTING = { quietMs: 30_000, computeMs: 30_000 };

/** Threads that are none: they say nothing, and have used what `cpuMs` says. */
function silentSpawner(cpuMs: () => number) {
  const real = new NodeSpawner(new URL('file:///nowhere.ts'));
  const ended: string[] = [];
  const spawner: Spawner = {
    spawn: (name) => ({
      threadId: 1,
      line: real.channel()[0],
      cpuMs: async () => cpuMs(),
      terminate: async () => void ended.push(name),
      onExit: () => undefined,
    }),
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

/** A control thread that has used so much processor time, and is watched. */
function watchedControl() {
  const clock = new FakeClock();
  const memory = newControlBeat();
  const lost: string[] = [];
  const control = { clock, beat: new Int32Array(memory), cpuMs: 0, lost };
  const onLost = (error: Error) => void lost.push(error.message);
  new ControlWatch(memory, { clock, cpuMs: async () => control.cpuMs, onLost }, STARTING);
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
});
