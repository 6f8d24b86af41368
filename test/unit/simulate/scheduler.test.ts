import { afterEach, describe, expect, it } from 'vitest';
import { Scheduler } from '../../../runtime/simulate/scheduler.ts';
import { VirtualThreads } from '../../../runtime/simulate/virtual-spawner.ts';
import type { VirtualThread } from '../../../runtime/simulate/virtual-thread.ts';
import type { Port } from '../../../runtime/link/port.ts';
import type { Spawner } from '../../../runtime/link/spawner.ts';

const EPOCH_MS = 1_000_000;

/** A scheduler, and what was noted in it, with the virtual time. */
function stage(boot: (thread: VirtualThread, line: Port, spawner: Spawner) => void = () => undefined) {
  const notes: string[] = [];
  let posted = 1;
  const scheduler = new Scheduler(
    {
      beforeStep: () => undefined,
      afterCode: () => undefined,
      afterStep: () => undefined,
      suspect: () => undefined,
      whenQuiet: () => undefined,
    },
    { seed: 1, epochMs: EPOCH_MS },
  );
  const threads = new VirtualThreads({
    scheduler,
    // Each message would be quicker than the one before.
    delayMs: () => Math.max(1, 6 - posted++),
    between: (least) => least,
    boot: (thread, _boot, line, spawner) => boot(thread, line, spawner),
  });
  const note = (text: string): void => void notes.push(text);
  return { scheduler, threads, notes, note };
}

describe('Scheduler (F-03)', () => {
  let real: ReturnType<typeof setTimeout> | undefined;
  afterEach(() => clearTimeout(real));

  it('runs timers at their virtual times, whenever they were set, in no real time', async () => {
    const { scheduler, notes, note } = stage();
    const { clock } = scheduler.newThread('one').seams;
    clock.setTimer(3_600_000, () => note(`hour ${Math.round(clock.monotonicMs() / 1_000)}`));
    clock.setTimer(1_000, () => note(`second ${clock.now() - EPOCH_MS}`));
    await scheduler.run();
    expect(notes).toEqual(['second 1000', 'hour 3600']);
  });

  it('does not run a timer that was cancelled', async () => {
    const { scheduler, notes, note } = stage();
    const { clock } = scheduler.newThread('one').seams;
    clock.setTimer(5, () => note('cancelled'))();
    clock.setTimer(6, () => note('left'));
    await scheduler.run();
    expect(notes).toEqual(['left']);
  });

  it('runs what was put off before anything else in the thread, and lets others go on meanwhile', async () => {
    const { scheduler, notes, note } = stage();
    const [one, two] = [scheduler.newThread('one'), scheduler.newThread('two')];
    scheduler.schedule(one, 1, () => {
      note('first');
      one.loop.defer(() => note('put off'));
      one.loop.defer(() => one.loop.defer(() => note('put off again')));
    });
    scheduler.schedule(one, 1, () => note('second'));
    scheduler.schedule(two, 1, () => note('other'));
    await scheduler.run();
    expect(notes.filter((text) => text !== 'other')).toEqual(['first', 'put off', 'put off again', 'second']);
    expect(notes.indexOf('other')).toBeLessThan(notes.indexOf('put off again'));
  });

  it('lets promises settle, and what they settle, before the next step', async () => {
    const { scheduler, notes, note } = stage();
    const one = scheduler.newThread('one');
    scheduler.schedule(one, 1, async () => {
      for (let turn = 0; turn < 50; turn++) await null;
      await new Promise<void>((resolve) => process.nextTick(resolve));
      note('settled');
    });
    scheduler.schedule(one, 1, () => note('next'));
    await scheduler.run();
    expect(notes).toEqual(['settled', 'next']);
  });

  it('has a busy thread do the next thing later, in the order in which things were due', async () => {
    const { scheduler, notes, note } = stage();
    const one = scheduler.newThread('one');
    scheduler.schedule(one, 1, () => one.spend(100));
    scheduler.schedule(one, 3, () => note(`due at 3, done at ${Math.floor(one.localMs)}`));
    scheduler.schedule(one, 2, () => note(`due at 2, done at ${Math.floor(one.localMs)}`));
    await scheduler.run();
    expect(notes).toEqual(['due at 2, done at 101', 'due at 3, done at 101']);
  });

  it('has a frozen thread do nothing until its time, and a slow one take longer', async () => {
    const { scheduler, notes, note } = stage();
    const [frozen, slow] = [scheduler.newThread('frozen'), scheduler.newThread('slow')];
    frozen.frozenUntilMs = 500;
    slow.slowness = 10;
    scheduler.schedule(frozen, 1, () => note(`frozen until ${Math.floor(frozen.localMs)}`));
    scheduler.schedule(slow, 1, () => slow.spend(20));
    scheduler.schedule(slow, 2, () => note(`slow until ${Math.floor(slow.localMs)}`));
    await scheduler.run();
    expect(notes).toEqual(['slow until 201', 'frozen until 500']);
  });

  it('stands still while something real goes on', async () => {
    const { scheduler, notes, note } = stage();
    const one = scheduler.newThread('one');
    scheduler.schedule(one, 1, () => {
      void scheduler.suspend(async () => {
        await new Promise<void>((resolve) => {
          real = setTimeout(resolve, 5);
        });
        note('real');
      });
    });
    scheduler.schedule(one, 2, () => note(`virtual at ${Math.floor(one.localMs)}`));
    await scheduler.run();
    expect(notes).toEqual(['real', 'virtual at 2']);
  });

  it('rejects with what nobody in its first thread caught', async () => {
    const { scheduler } = stage();
    scheduler.schedule(scheduler.newThread('one'), 1, () => {
      throw new Error('uncaught');
    });
    await expect(scheduler.run()).rejects.toThrow('uncaught');
  });
});

describe('ports and threads of a simulation (F-03)', () => {
  it('carry clones, in their order, later', async () => {
    const { scheduler, threads, notes, note } = stage();
    const one = scheduler.newThread('one');
    const [here, there] = threads.spawnerOf(one).channel();
    const sent = { n: 1 };
    here.post(sent);
    here.post({ n: 2 });
    there.onMessage((message) => note(`${(message as typeof sent).n} at ${Math.floor(one.localMs)}`));
    sent.n = 100;
    await scheduler.run();
    expect(notes).toEqual(['1 at 5', '2 at 5']);
  });

  it('give what is posted to whoever looks, once', async () => {
    const { scheduler, threads, notes, note } = stage();
    const [here, there] = threads.spawnerOf(scheduler.newThread('one')).channel();
    there.onMessage((message) => note(String(message)));
    here.post('taken');
    here.post('delivered');
    expect(there.take()).toEqual({ message: 'taken' });
    await scheduler.run();
    expect(notes).toEqual(['delivered']);
    expect(there.take()).toBeUndefined();
  });

  it('share memory, and carry ports to the thread that gets them', async () => {
    const { scheduler, threads, notes, note } = stage((thread, line, spawner) => {
      line.onMessage((message) => {
        const { port, memory } = message as { port: unknown; memory: SharedArrayBuffer };
        new Int32Array(memory)[0] = 42;
        spawner.received(port).post(`from ${thread.name}`);
      });
    });
    const one = scheduler.newThread('one');
    const spawner = threads.spawnerOf(one);
    const [here, there] = spawner.channel();
    const memory = new SharedArrayBuffer(4);
    here.onMessage((message) => note(`${message}: ${new Int32Array(memory)[0]}`));
    const worker = spawner.spawn('worker', {}, []);
    const port = spawner.transferable(there);
    worker.port.post({ port, memory }, [port]);
    await scheduler.run();
    expect(notes).toEqual(['from worker: 42']);
  });

  it('tell of an end after everything that was said, and close what the dead thread had', async () => {
    const { scheduler, threads, notes, note } = stage((thread, line, spawner) => {
      line.onMessage((message) => {
        const port = spawner.received((message as { port: unknown }).port);
        port.onMessage(() => note('too late'));
        port.post('last word');
        line.post('last report');
        thread.loop.defer(() => scheduler.end(thread));
      });
    });
    const one = scheduler.newThread('one');
    const spawner = threads.spawnerOf(one);
    const [here, there] = spawner.channel();
    here.onMessage((message) => note(String(message)));
    here.onClose(() => note('closed'));
    const spawned = spawner.spawn('worker', {}, []);
    spawned.port.onMessage((message) => note(String(message)));
    spawned.onExit((reason) => note(reason));
    const port = spawner.transferable(there);
    spawned.port.post({ port }, [port]);
    await scheduler.run();
    expect(notes.filter((text) => text !== 'last report' && text !== 'it exited')).toEqual([
      'last word',
      'closed',
    ]);
    expect(notes.indexOf('last report')).toBeLessThan(notes.indexOf('it exited'));
    here.post('to nobody');
    await scheduler.run();
    expect(notes).not.toContain('too late');
  });

  it('refuse what cannot be cloned', () => {
    const { scheduler, threads } = stage();
    const [here] = threads.spawnerOf(scheduler.newThread('one')).channel();
    expect(() => here.post(() => undefined)).toThrow('could not be cloned');
  });
});
