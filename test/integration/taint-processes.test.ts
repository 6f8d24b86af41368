import { capability, defineAgent, clientOf, startSystem, type System } from 'orrery';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { peek, run, type Step } from '../fixtures/agents/graph.ts';
import { agent, until } from '../fixtures/until.ts';

const ID = 'keeping-graph';
const { module } = agent(ID);
const apart = () => [agent(ID, { isolation: 'process' as const })];
const target = { agent: ID, capability: run };
const inIt = (system: System) =>
  system.ask({ agent: ID, capability: peek }, undefined, { timeoutMs: 25_000 });
const marks = (source: string): Step[] => [{ do: 'mark', source }];

describe('what an agent in a process of its own has taken in (F-09)', () => {
  it('goes with the state into the next process, and neither with a fresh one nor over a death', async () => {
    await using system = await startSystem({
      agents: apart(),
      supervision: { backOff: { firstMs: 1, maxMs: 1 } },
    });
    await system.ask(target, { steps: marks('web:marked') }, { taint: ['web:given'] });
    await system.upgrade(ID, { module });
    expect(await inIt(system)).toEqual(['web:given', 'web:marked']);
    await system.upgrade(ID, { module, fresh: true });
    expect(await inIt(system)).toEqual([]);
    await system.ask(target, { steps: marks('web:again') });
    expect(await inIt(system)).toEqual(['web:again']);
    await system.ask(target, { steps: [{ do: 'crash' }] }).catch(() => undefined);
    expect(await inIt(system)).toEqual([]);
  });

  it('is all there after upgrades under load, however far its process runs ahead of them', async () => {
    await using system = await startSystem({ agents: apart() });
    const given: string[] = [];
    let handled = 0;
    for (let round = 0; round < 3; round += 1) {
      const asked: Promise<unknown>[] = [];
      // Some of them are given to the process ahead of their turn, on either side of the snapshot.
      for (let at = 0; at < 60; at += 1) {
        const source = `web:${round}-${at % 5}`;
        given.push(source);
        const options = at % 2 === 0 ? { taint: [source] } : {};
        const steps = at % 2 === 0 ? [] : marks(source);
        asked.push(
          system.ask(target, { steps }, { ...options, whenFull: 'park', timeoutMs: 25_000 }).then(() => {
            handled += 1;
          }),
        );
      }
      await until('some are handled', async () => handled > round * 60 + 5);
      await Promise.all([system.upgrade(ID, { module }), ...asked]);
      expect(await inIt(system)).toEqual([...new Set(given)].sort());
    }
  });
});

const about = { input: z.void(), output: z.void() };
const clean = capability({ id: 'mars.clean', description: 'Declares itself clean', ...about });
const crash = capability({ id: 'mars.crash', description: 'Ends the actor', ...about });

describe('what an agent is given while it starts (F-09)', () => {
  it('is in it from then on, and in none that begins anew after it has said that it is clean', async () => {
    let starts = 0;
    const mars = defineAgent({ id: 'mars', name: 'MARS', version: '1.0.0', description: 'Starts', tier: 2 })
      .onStart((ctx) => {
        starts += 1;
        if (starts === 1) clientOf(ctx).absorbTaint(['web:a']);
      })
      .handle(clean, (_, ctx) => ctx.declareClean('nothing is left of it'))
      .handle(crash, () => {
        throw new Error('as it was told');
      })
      .handle(peek, (_, ctx) => [...(ctx.taint ?? [])]);
    await using system = await startSystem({
      agents: [mars],
      supervision: { backOff: { firstMs: 1, maxMs: 1 } },
    });
    const told = (): Promise<string[]> => system.ask(peek, undefined);
    expect(await told()).toEqual(['web:a']);
    await system.ask(clean, undefined);
    expect(await told()).toEqual([]);
    await system.ask(crash, undefined).catch(() => undefined);
    expect([await told(), starts]).toEqual([[], 2]);
  });
});
