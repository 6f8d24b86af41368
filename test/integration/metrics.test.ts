import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { capability, defineAgent, startSystem, type Team } from 'orrery';
import { toolsOf } from 'orrery/tools';
import { z } from 'zod';
import { documentedMetrics, scrapedMetrics } from '../fixtures/metrics-page.ts';
import { rejection, until } from '../fixtures/until.ts';

const wait = capability({ id: 'wait.long', description: 'Waits', input: z.object({}), output: z.string() });
const card = { name: 'W', version: '1.0.0', description: 'Waits', tier: 2 } as const;

/** Agents that keep what they are given in hand until `release`. */
const holders = (ids: readonly string[]) => {
  const { promise, resolve } = Promise.withResolvers<string>();
  const agents = ids.map((id) => defineAgent({ ...card, id }).handle(wait, () => promise));
  return { agents, release: () => resolve('done') };
};

/** The value of one sample; undefined when it is not there. */
const sampleOf = (text: string, sample: string): number | undefined => {
  const line = text.split('\n').find((one) => one.startsWith(`${sample} `));
  return line === undefined ? undefined : Number(line.slice(sample.length + 1));
};

describe('The metrics of a system that is served (N-12.4)', () => {
  const documented = documentedMetrics();
  const { agents, release } = holders(['held', 'dropped']);
  let folder: string;
  let system: Team;
  let text: string;
  let asked: Promise<unknown>;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'orrery-metrics-'));
    const quick = defineAgent({ ...card, id: 'quick' }).handle(wait, () => 'at once');
    system = await startSystem({ agents: [...agents, quick], journal: { path: join(folder, 'journal.db') } });
    const push = { targets: { allowHttp: true } };
    const { url } = await system.serve({ entry: 'held', a2a: { push } });
    await toolsOf(system).call('quick.wait.long', {});
    asked = Promise.allSettled([
      ...['held', 'dropped'].flatMap((id) =>
        [0, 1].map(() => system.ask({ agent: id, capability: wait }, {})),
      ),
    ]);
    await until(
      'they are in hand',
      async () => (await system.roster()).filter(({ waiting }) => waiting === 2).length === 2,
    );
    await system.stopAgent('dropped');
    await fetch(`${url}/nowhere`);
    text = await until('all has been seen', async () => {
      const answer = await (await fetch(`${url}/metrics`)).text();
      return answer.includes('orrery_dead_letters_total{') && answer;
    });
  });
  afterAll(async () => {
    release();
    await asked;
    await system.stop({ drainMs: 0 });
    rmSync(folder, { recursive: true });
  });

  it('are those of docs/metrics.md, by name and type, both ways', () => {
    const scraped = [...scrapedMetrics(text).values()].map(({ name, type }) => `${name} ${type}`);
    expect(scraped.sort()).toEqual(documented.map(({ name, type }) => `${name} ${type}`).sort());
  });

  it('have the labels that the page says', () => {
    const scraped = scrapedMetrics(text);
    for (const { name, labels } of documented) {
      const found = scraped.get(name);
      if (found === undefined) continue;
      // What Node has nothing of at the moment has no samples.
      if (name.startsWith('nodejs_')) expect(labels, name).toEqual(expect.arrayContaining([...found.labels]));
      else expect(found.labels, name).toEqual(labels);
    }
  });

  it('are named as Prometheus wants it: base units, and `_total` for counters alone', () => {
    for (const { name, type, unit } of documented.filter((one) => one.name.startsWith('orrery_'))) {
      expect(name.endsWith('_total'), name).toBe(type === 'counter');
      const base = name.replace(/_total$/, '');
      expect(base.endsWith('_seconds'), name).toBe(unit === 'seconds');
      expect(base.endsWith('_bytes') || base.endsWith('bytes_in_hand'), name).toBe(unit === 'bytes');
    }
  });

  it('say who waits, since when, and for what reason others do not any more', () => {
    expect(sampleOf(text, 'orrery_mailbox_waiting{agent="held"}')).toBe(2);
    expect(sampleOf(text, 'orrery_mailbox_oldest_seconds{agent="held"}')).toBeGreaterThanOrEqual(0);
    expect(sampleOf(text, 'orrery_agents{status="stopped"}')).toBe(1);
    expect(text).toMatch(/^orrery_dead_letters_total\{code="\w+"\} [12]$/m);
    expect(sampleOf(text, 'orrery_place_up{place="host"}')).toBe(1);
    expect(sampleOf(text, 'orrery_place_heap_bytes{place="host"}')).toBeGreaterThan(1_000_000);
    expect(sampleOf(text, 'orrery_journal_bytes')).toBeGreaterThan(0);
    expect(sampleOf(text, 'orrery_journal_failing')).toBe(0);
  });

  it('count each envelope that is settled in the histogram of latencies', () => {
    const settled = ['handled', 'rejected', 'expired', 'dead-lettered'].map(
      (outcome) => sampleOf(text, `orrery_envelopes_settled_total{outcome="${outcome}"}`) ?? Number.NaN,
    );
    const count = sampleOf(text, 'orrery_envelope_seconds_count');
    expect(count).toBe(settled.reduce((sum, one) => sum + one, 0));
    expect(sampleOf(text, 'orrery_envelope_seconds_bucket{le="+Inf"}')).toBe(count);
  });
});

describe('The metrics of a large system', () => {
  it('list the hundred agents with most, and say how many are not listed', async () => {
    const ids = Array.from({ length: 140 }, (_, at) => `agent-${at}`);
    const { agents, release } = holders(ids);
    await using system = await startSystem({ agents });
    const asked = ids.slice(20).flatMap((id) => [system.ask({ agent: id, capability: wait }, {})]);
    const failed = rejection(system.ask({ agent: 'nobody', capability: wait }, {}));
    await until(
      'they wait',
      async () => (await system.roster()).filter((row) => row.waiting > 0).length === 120,
    );
    const text = await system.metrics();
    const listed = [...text.matchAll(/^orrery_mailbox_waiting\{agent="agent-(\d+)"\} (\d+)$/gm)];
    expect(listed).toHaveLength(100);
    expect(listed.every(([, id, waiting]) => Number(id) >= 20 && waiting === '1')).toBe(true);
    expect([...text.matchAll(/^orrery_agent_restarts_total\{/gm)]).toHaveLength(100);
    expect(sampleOf(text, 'orrery_agents_unlisted')).toBe(40);
    expect(sampleOf(text, 'orrery_mailboxes_waiting')).toBe(120);
    expect(sampleOf(text, 'orrery_agents{status="running"}')).toBe(140);
    release();
    await Promise.all(asked);
    expect((await failed).code).toBe('AGENT_NOT_FOUND');
  });
});
