import { describe, expect, it } from 'vitest';
import { Stop } from '../../../runtime/system/stop-work.ts';

function rig() {
  const done: string[] = [];
  const stop = new Stop(async (drainMs) => void done.push(`stop ${drainMs}`));
  return { done, stop };
}

describe('Work before a system stops', () => {
  it('is done first, once, with the time that stop gives', async () => {
    const { done, stop } = rig();
    stop.before(async ({ drainMs }) => {
      await Promise.resolve();
      done.push(`work ${drainMs}`);
    });
    await Promise.all([stop.begin({ drainMs: 50 }), stop.begin()]);
    expect(done).toEqual(['work 50', 'stop 50']);
  });

  it('is not done when it was taken back', async () => {
    const { done, stop } = rig();
    stop.before(async () => void done.push('work'))();
    await stop.begin();
    expect(done).toEqual(['stop 1000']);
  });

  it('that fails keeps nothing from stopping, and is told', async () => {
    const { done, stop } = rig();
    stop.before(async () => {
      throw new Error('it would not close');
    });
    stop.before(async () => void done.push('other'));
    await expect(stop.begin({ drainMs: 0 })).rejects.toThrow('it would not close');
    expect(done).toEqual(['other', 'stop 0']);
  });

  it('is waited for by nobody where there is none: the system stops at once, and all get one promise', () => {
    const { done, stop } = rig();
    const first = stop.begin();
    expect(done).toEqual(['stop 1000']);
    expect(stop.begin()).toBe(first);
  });

  it('is not begun for options that are none', async () => {
    const { done, stop } = rig();
    stop.before(async () => void done.push('work'));
    await expect(stop.begin({ drainMs: -1 })).rejects.toMatchObject({ code: 'INVALID_OPTIONS' });
    expect(done).toEqual([]);
  });

  it('is not taken any more from when the system stops', async () => {
    const { done, stop } = rig();
    stop.before(async () => void done.push('work'));
    const stopping = stop.begin();
    const late = () => stop.before(async () => void done.push('late'));
    expect(late).toThrow(expect.objectContaining({ code: 'SYSTEM_STOPPED' }));
    await stopping;
    expect(late).toThrow('stopped');
    expect(done).not.toContain('late');
  });
});
