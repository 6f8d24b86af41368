import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startSystem } from 'orrery';
import { afterAll, describe, expect, it } from 'vitest';
import { job } from '../fixtures/agents/several.ts';
import { linesOf } from '../fixtures/lines-of.ts';
import { agent, until } from '../fixtures/until.ts';

const folder = mkdtempSync(join(tmpdir(), 'orrery-several-'));
afterAll(() => rmSync(folder, { recursive: true }));

const CONCURRENCY = 8;
const JOBS = 60;
/** Every tenth waits for ever: six of eight places are taken by the end. */
const waits = (n: number): boolean => n % 10 === 0;
const HANGING = Array.from({ length: JOBS }, (_, n) => n).filter(waits);

describe.each(['once', 'retry'] as const)(
  'An agent with eight envelopes in hand, whose thread is killed (%s)',
  (delivery) => {
    it('loses what it had in hand, does nothing again that was settled, and goes on with what waits (F-01)', async () => {
      const file = join(folder, delivery);
      const id = `several-${delivery}`;
      const system = await startSystem({
        agents: [agent(id)],
        supervision: { backOff: { firstMs: 1, maxMs: 1 } },
      });
      try {
        for (let n = 0; n < JOBS; n++)
          expect(system.tell({ agent: id, capability: job }, { n, file, waits: waits(n) })).toMatchObject({
            delivered: true,
          });
        const left = HANGING.length;
        await until('only those that hang are left', async () => {
          const { inFlight, handled } = await system.conservation();
          return inFlight === left && handled === JOBS - left;
        });
        const before = linesOf(file);
        expect(before.filter((line) => line.startsWith('+'))).toEqual(
          Array.from({ length: JOBS }, (_, n) => `+${n}`),
        );
        const place = (await system.roster()).find((row) => row.id === id)?.place as string;
        await system.terminate(place);
        if (delivery === 'once') {
          await until('what was in hand is told', async () => (await system.conservation()).inFlight === 0);
          expect((await system.deadLetters()).map(({ code }) => code)).toEqual(
            HANGING.map(() => 'ACTOR_DIED'),
          );
        } else {
          const again = await until('what was in hand is begun on again', () => {
            const lines = linesOf(file).slice(before.length);
            return lines.length === left ? lines : undefined;
          });
          expect(again).toEqual(HANGING.map((n) => `+${n}`));
        }
        // The next one is handled by the actor that follows.
        await system.ask({ agent: id, capability: job }, { n: JOBS, file, waits: false });
        expect(linesOf(file).slice(before.length + (delivery === 'once' ? 0 : left))).toEqual([
          `+${JOBS}`,
          `-${JOBS}`,
        ]);
        const counts = await system.conservation();
        expect(counts).toMatchObject({
          holds: true,
          accepted: JOBS + 1,
          handled: JOBS - left + 1,
          deadLettered: delivery === 'once' ? left : 0,
        });
        expect(left).toBeLessThan(CONCURRENCY);
      } finally {
        await system.stop();
      }
    });
  },
);
