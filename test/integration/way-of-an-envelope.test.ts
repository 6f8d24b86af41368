import { readFileSync } from 'node:fs';
import { startSystem } from 'orrery';
import { expect, it } from 'vitest';
import { countIn, tellOneByOne } from '../fixtures/agents/one-by-one.ts';
import { filesEntered } from '../fixtures/files-entered.ts';

const PAGE = new URL('../../docs/internals/envelopes.md', import.meta.url);

const moduleOf = (name: string) => ({
  module: new URL(`../fixtures/agents/${name}.agent.ts`, import.meta.url),
});

/** What the page lists as entered, in its order. */
function listed(): string[] {
  const [, section = ''] = readFileSync(PAGE, 'utf8').split('## The files that it enters\n');
  const lines = (section.split('\n## ')[0] as string).split('\n').filter((line) => line.startsWith('- '));
  return lines.flatMap((line) => [...line.matchAll(/`([^`]+)`/g)].map(([, path]) => path as string));
}

it('a tell from worker to worker enters the files that the page lists, and no others', async () => {
  const agents = ['one-by-one-listener', 'one-by-one-teller'].map(moduleOf);
  await using system = await startSystem({ workers: 2, agents });
  const memory = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
  await system.ask({ agent: 'listener', capability: countIn }, { memory });
  const { files, byThread } = await filesEntered(async (times) => {
    await system.ask({ agent: 'teller', capability: tellOneByOne }, { memory, times }, { timeoutMs: 60_000 });
  });
  expect(
    [...byThread]
      .filter(([, entered]) => entered.length > 0)
      .map(([thread]) => thread)
      .sort(),
  ).toEqual(['worker-1', 'worker-2']);
  expect(files).toEqual(listed().sort());
});
