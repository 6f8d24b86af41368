import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { capability, defineAgent, type Progress, startSystem, type Team } from 'orrery';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { z } from 'zod';

const talk = capability({ id: 'talk', description: 'Talks', input: z.unknown(), output: z.unknown() });
const TOLD = 40;
const talker = () => {
  let times = 0;
  return defineAgent({
    id: 'talker',
    name: 'Talker',
    version: '1.0.0',
    description: 'Talks much',
    tier: 2,
    durable: true,
  }).handle(talk, (_, ctx) => {
    times += 1;
    for (let n = 1; n <= TOLD; n += 1) ctx.report({ n, text: 'x'.repeat(64 * 1024) });
    return { times };
  });
};

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'reports-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

async function askAgain(system: Team): Promise<{ answer: unknown; heard: readonly number[] }> {
  const client = await system.client();
  const heard: number[] = [];
  const onProgress = ({ report, dropped }: Progress): void => {
    heard.push(dropped === undefined ? (report as { n: number }).n : -dropped);
  };
  const answer = await client.ask({
    envelopeId: 'task/of-old/1',
    recipient: 'talker',
    capability: 'talk',
    payload: {},
    deadlineAtMs: Date.now() + 60_000,
    onProgress,
  });
  return { answer, heard };
}

it('answers the same again with the newest of what it reported, and says how much is not known any more', async () => {
  const start = () =>
    startSystem({
      agents: [talker()],
      journal: { path: join(folder, 'team.db') },
      workers: 1,
      spareThread: false,
    });
  const all = Array.from({ length: TOLD }, (_, at) => at + 1);
  // 15 of these are less than a mebibyte, 16 are more.
  const again = { answer: { times: 1 }, heard: [-25, ...all.slice(25)] };
  {
    await using system = await start();
    expect(await askAgain(system)).toEqual({ answer: { times: 1 }, heard: all });
    expect(await askAgain(system)).toEqual(again);
  }
  await using next = await start();
  expect(await askAgain(next)).toEqual(again);
});
