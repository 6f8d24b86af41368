import { describe, expect, it } from 'vitest';
import { rig } from '../fixtures/push-rig.ts';
import { ALICE, BOB } from '../fixtures/pushed-tasks.ts';
import { rejection } from '../fixtures/until.ts';

describe('configs of push notifications', () => {
  it('are their owner’s alone', async () => {
    const pushed = await rig();
    const { task } = await pushed.begin();
    const taskId = task.id;
    const { id } = await pushed.service.create(ALICE, { taskId, url: 'https://93.184.216.34/' });
    const codes = await Promise.all(
      [
        pushed.service.create(BOB, { taskId, url: 'https://93.184.216.34/' }),
        pushed.service.get(BOB, { taskId, id }),
        pushed.service.list(BOB, { taskId }),
        pushed.service.delete(BOB, { taskId, id }),
        pushed.service.get(ALICE, { taskId, id: 'another' }),
        pushed.service.get(ALICE, { taskId: 'another', id }),
      ].map(async (asked) => (await rejection(asked)).code),
    );
    expect(codes).toEqual(codes.map(() => 'TASK_NOT_FOUND'));
    expect((await pushed.service.get(ALICE, { taskId, id })).id).toBe(id);
  });

  it('are listed page by page', async () => {
    const pushed = await rig();
    const { task } = await pushed.begin();
    const taskId = task.id;
    for (let at = 0; at < 5; at++)
      await pushed.service.create(ALICE, { taskId, id: `c${at}`, url: 'https://93.184.216.34/' });
    const pages: string[][] = [];
    let pageToken = '';
    do {
      const page = await pushed.service.list(ALICE, { taskId, pageSize: 2, pageToken });
      pages.push(page.configs.map(({ id }) => id));
      pageToken = page.nextPageToken;
    } while (pageToken !== '');
    expect(pages).toEqual([['c0', 'c1'], ['c2', 'c3'], ['c4']]);
    const { code, message } = await rejection(pushed.service.list(ALICE, { taskId, pageToken: 'nonsense' }));
    expect({ code, message }).toEqual({
      code: 'INVALID_PAYLOAD',
      message: expect.stringContaining('"nonsense"'),
    });
  });

  it('are bounded: of a task, of an owner, and altogether', async () => {
    const pushed = await rig({ ofTask: 2, ofOwner: 3, most: 4 });
    const taskIds: Record<string, string> = {};
    for (const name of ['a1', 'a2', 'b1', 'b2'])
      taskIds[name] = (await pushed.begin(name.startsWith('a') ? ALICE : BOB)).task.id;
    const create = (name: string) =>
      pushed.service.create(name.startsWith('a') ? ALICE : BOB, {
        taskId: taskIds[name] ?? '',
        url: `https://93.184.216.34/${pushed.service.counts.configs}`,
      });
    await create('a1');
    await create('a1');
    expect((await rejection(create('a1'))).message).toContain('2 push notification configs of one task');
    const { id } = await create('a2');
    expect((await rejection(create('a2'))).message).toContain('3 push notification configs of one owner');
    await create('b1');
    expect((await rejection(create('b2'))).message).toContain('4 push notification configs of this gateway');
    await pushed.service.delete(ALICE, { taskId: taskIds['a2'] ?? '', id });
    await create('b2');
  });

  it.each([
    [{ token: 'line\r\nX-Injected: yes' }, 'token'],
    [{ token: 'pässword' }, 'token'],
    [{ authentication: { scheme: 'Bearer\r\n', credentials: 'x' } }, 'authentication.scheme'],
    [{ authentication: { scheme: 'Bearer', credentials: 'a\nb' } }, 'authentication.credentials'],
    [{ id: '' }, 'id'],
    [{ url: 'https://10.0.0.1/' }, 'url'],
    [{ url: 'https://alice:secret@93.184.216.34/' }, 'url'],
  ])('with %j are refused', async (fields, field) => {
    const pushed = await rig();
    const { task } = await pushed.begin();
    const wanted = { taskId: task.id, url: 'https://93.184.216.34/', ...fields };
    const { code, message } = await rejection(pushed.service.create(ALICE, wanted));
    expect({ code, message }).toEqual({ code: 'INVALID_PAYLOAD', message: expect.stringContaining(field) });
    expect(message).not.toContain('secret');
    expect(pushed.service.counts.configs).toBe(0);
  });

  it('go with their tasks', async () => {
    const pushed = await rig();
    const { task } = await pushed.begin();
    await pushed.service.create(ALICE, { taskId: task.id, url: 'https://93.184.216.34/' });
    pushed.log.tasks.clear();
    await pushed.restart();
    await pushed.clock.advanceAsync(60_000);
    expect(pushed.service.counts.configs).toBe(0);
    expect(pushed.kept.values.size).toBe(0);
  });

  it('that cannot be kept are not there', async () => {
    const pushed = await rig();
    const { task } = await pushed.begin();
    pushed.kept.put = () => Promise.reject(new Error('the disk is full'));
    const wanted = { taskId: task.id, url: 'https://93.184.216.34/' };
    await expect(pushed.service.create(ALICE, wanted)).rejects.toThrow('the disk is full');
    expect((await pushed.service.list(ALICE, { taskId: task.id })).configs).toEqual([]);
  });
});
