import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { NodeSpawner } from '../../../runtime/threads/node-spawner.ts';

it('tells of a thread that was gone before anybody asked (F-06)', async () => {
  const spawner = new NodeSpawner(new URL('data:text/javascript,process.exit(3)'));
  const spawned = spawner.spawn('brief', {}, []);
  await new Promise((gone) => spawned.onExit(gone));
  await sleep(1);
  expect(await new Promise((gone) => spawned.onExit(gone))).toBe('it exited (exit code 3)');
});
