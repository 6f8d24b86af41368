import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startSystem } from 'orrery';
import { memoryAdd, memorySearch, skillAgents } from 'orrery/skills';
import { describe, expect, it } from 'vitest';
import { until } from '../fixtures/until.ts';

const RAIN = 'Tomorrow there will be heavy rain in the mountains';
/** All are a little near to the query: what is not near at all is not found. */
const TEXTS = [RAIN, 'The train to the coast leaves at noon', 'Our cat sleeps on the warm radiator'];
const QUERY = { query: 'weather forecast for hikers' };

describe('Memories with a model from a package', () => {
  it('are found by what they mean, and by it again after a restart, also those that had no vector (A-13)', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'orrery-skills-'));
    const team = (embedding: 'local' | 'none') =>
      startSystem({ agents: skillAgents({ store: join(folder, 'skills.sqlite'), embedding }), workers: 1 });
    try {
      {
        await using system = await team('none');
        for (const content of TEXTS) await system.ask(memoryAdd, { content });
        expect(await system.ask(memorySearch, QUERY)).toMatchObject({ results: [], embedding: null });
      }
      for (const _ of ['the first start with a model', 'the next one']) {
        await using system = await team('local');
        const found = await until('all have vectors', async () => {
          const { results, embedding } = await system.ask(memorySearch, QUERY, { timeoutMs: 100_000 });
          const all =
            results.length === TEXTS.length && results.every(({ signals }) => signals.vector !== null);
          return embedding !== null && all && results;
        });
        expect(found[0]).toMatchObject({ content: RAIN, signals: { text: 0 } });
        expect(found[0]?.score).toBeCloseTo(0.3 * (found[0]?.signals.vector ?? 0));
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
