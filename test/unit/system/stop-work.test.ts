import { describe, expect, it } from 'vitest';
import { withWorkBeforeStop } from '../../../runtime/system/stop-work.ts';
import type { System } from '../../../runtime/system/system.ts';

function rig() {
  const done: string[] = [];
  const stop = async (options: { drainMs?: number } = {}) => void done.push(`stop ${options.drainMs}`);
  const system = withWorkBeforeStop({ stop } as unknown as System);
  return { done, system };
}

describe('Work before a system stops', () => {
  it('is done first, once, with the time that stop gives', async () => {
    const { done, system } = rig();
    system.beforeStop(async ({ drainMs }) => {
      await Promise.resolve();
      done.push(`work ${drainMs}`);
    });
    await Promise.all([system.stop({ drainMs: 50 }), system.stop()]);
    expect(done).toEqual(['work 50', 'stop 50']);
  });

  it('is not done when it was taken back', async () => {
    const { done, system } = rig();
    system.beforeStop(async () => void done.push('work'))();
    await system.stop();
    expect(done).toEqual(['stop 1000']);
  });

  it('that fails keeps nothing from stopping, and is told', async () => {
    const { done, system } = rig();
    system.beforeStop(async () => {
      throw new Error('it would not close');
    });
    system.beforeStop(async () => void done.push('other'));
    await expect(system.stop({ drainMs: 0 })).rejects.toThrow('it would not close');
    expect(done).toEqual(['other', 'stop 0']);
  });

  it('is waited for by nobody where there is none: the system stops at once, and all get one promise', () => {
    const { done, system } = rig();
    const first = system.stop();
    expect(done).toEqual(['stop 1000']);
    expect(system.stop()).toBe(first);
  });

  it('is not begun for options that are none', async () => {
    const { done, system } = rig();
    system.beforeStop(async () => void done.push('work'));
    await expect(system.stop({ drainMs: -1 })).rejects.toMatchObject({ code: 'INVALID_OPTIONS' });
    expect(done).toEqual([]);
  });

  it('is not taken any more from when the system stops', async () => {
    const { done, system } = rig();
    system.beforeStop(async () => void done.push('work'));
    const stopping = system.stop();
    const late = () => system.beforeStop(async () => void done.push('late'));
    expect(late).toThrow(expect.objectContaining({ code: 'SYSTEM_STOPPED' }));
    await stopping;
    expect(late).toThrow('stopped');
    expect(done).not.toContain('late');
  });
});
