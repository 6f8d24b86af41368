import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkJournal, salvageJournal, startSystem, type SystemEvent } from 'orrery';
import { afterAll, expect, it } from 'vitest';
import { HOPS, way } from '../fixtures/agents/hops.ts';
import { runFixture } from '../fixtures/run-fixture.ts';
import { agent, until } from '../fixtures/until.ts';

const folder = mkdtempSync(join(tmpdir(), 'orrery-history-'));
afterAll(() => rmSync(folder, { recursive: true }));
const path = join(folder, 'journal.db');
const agents = [agent('hopper', { instances: ['a'] }), agent('hopper', { instances: ['b'] })];

/** What stands in the file and its log, whoever has it open. */
const bytesOnDisk = (): string =>
  [path, `${path}-wal`]
    .filter((file) => existsSync(file))
    .map((file) => readFileSync(file, 'latin1'))
    .join('');

const about = (events: readonly SystemEvent[], correlationId: string) =>
  events.filter((event) => event.correlationId === correlationId && event.security === true);

const NESTED = [
  'system/host>a request',
  'a>b request',
  'b>a request',
  'a>b response',
  'b>a response',
  'a>system/host response',
  'system/host>a notification',
];

it('A conversation and the security events of a process that was killed are there for the next one, in order and once, within bounds, and in what is copied and salvaged (N-P08)', async () => {
  const { child, lines, ended } = runFixture('history-host', [path]);
  for await (const line of lines) {
    expect(JSON.parse(line)).toEqual(['ESCALATION_REQUIRED', true, '']);
    await until('the last of it is written', () => {
      const bytes = bytesOnDisk();
      return ['the last word', '"correlationId":"refused"', '"correlationId":"crossed"'].every((word) =>
        bytes.includes(word),
      );
    });
    child.kill('SIGKILL');
  }
  expect((await ended).code).toBe('SIGKILL');

  const second = await startSystem({ journal: { path }, agents });
  const steps = async (correlationId: string) =>
    (await second.thread(correlationId)).map(
      ({ sender, recipient, type }) => `${sender}>${recipient} ${type}`,
    );
  expect(await steps('talk')).toEqual(NESTED);
  expect((await second.thread('talk')).at(-1)?.payload).toBe('the last word');
  expect(await steps('crossed')).toEqual(['down>up notification']);
  const events = await second.recentEvents(10_000);
  expect(about(events, 'refused')).toMatchObject([
    { type: 'routing-decision', success: false, errorCode: 'ESCALATION_REQUIRED', sender: 'down' },
  ]);
  expect(about(events, 'crossed')).toMatchObject([{ success: true, sourceTier: 2, targetTier: 1 }]);
  expect(events.filter(({ type }) => type === 'history')).toEqual([]);
  // It goes on, and what both remember is told once.
  await second.ask({ agent: 'a', capability: HOPS.one }, { way: way('b.one') }, { correlationId: 'talk' });
  await until('all of it is seen', async () => (await steps('talk')).length === 11);
  await second.stop();

  expect(await checkJournal(path)).toMatchObject({ damage: [] });
  const copy = join(folder, 'salvaged.db');
  expect(await salvageJournal(path, copy)).toMatchObject({ lost: [] });

  await using third = await startSystem({
    journal: { path: copy, history: { traffic: { maxCount: 16 } } },
    agents,
  });
  expect(await third.thread('talk')).toHaveLength(11);
  for (let n = 0; n < 20; n++) third.tell('b', n, { correlationId: 'more' });
  await until('the first is forgotten', async () => (await third.thread('talk')).length === 0);
  expect(await third.thread('more')).toHaveLength(20);
  // Of a former process the journal has all that is kept.
  expect(about(await third.recentEvents(10_000), 'refused')).toHaveLength(1);
});

it('A journal that keeps no history has none, and whoever asks is told what the threads remember', async () => {
  const journal = { path: join(folder, 'without.db'), history: false as const };
  const first = await startSystem({ journal, agents });
  await first.ask({ agent: 'a', capability: HOPS.one }, { way: way('b.one') }, { correlationId: 'talk' });
  expect(await first.thread('talk')).toHaveLength(4);
  await first.stop();
  await using second = await startSystem({ journal, agents });
  expect(await second.thread('talk')).toEqual([]);
});

it.each([
  [{ traffic: { maxCount: 1 } }, 'journal.history.traffic.maxCount is 1'],
  [{ talk: {} }, 'talk'],
  [true, 'journal.history is true'],
])('refuses wrong bounds by field and value: %j', async (history, text) => {
  const journal = { path: join(folder, 'wrong.db'), history: history as never };
  await expect(startSystem({ journal, agents: [] })).rejects.toMatchObject({
    code: 'INVALID_OPTIONS',
    message: expect.stringContaining(text),
  });
});
