import { capability, defineAgent, startSystem } from 'orrery';
import { resourceChanged, toolsOf } from 'orrery/tools';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { taintOf } from '../fixtures/agents/graph.ts';
import { until } from '../fixtures/until.ts';

const who = (id: string) => ({ id, name: id, version: '1.0.0', description: id, tier: 2 }) as const;
const about = { input: z.void(), output: z.array(z.string()) };
const restock = capability({ id: 'shelf.restock', description: 'Changes a book', ...about });
const listen = capability({ id: 'reader.listen', description: 'Waits for a change', ...about });

describe('what is said of a resource (F-09)', () => {
  it('brings the taint of whoever says it to those who hear of it, before they do anything with it', async () => {
    const shelf = defineAgent(who('shelf'))
      .resource({ uri: 'shelf://book', name: 'book' }, () => 'a book')
      .handle(restock, (_, ctx) => {
        ctx.markOutside('web:a');
        resourceChanged(ctx, 'shelf://book');
        return taintOf(ctx);
      });
    const reader = defineAgent(who('reader')).handle(listen, async (_, ctx) => {
      const { promise, resolve } = Promise.withResolvers<string[]>();
      toolsOf(ctx).onUpdate(() => resolve(taintOf(ctx)));
      return promise;
    });
    await using system = await startSystem({ agents: [shelf, reader] });
    toolsOf(system).onUpdate(() => undefined);
    let heard: string[] | undefined;
    const listening = system.ask(listen, undefined).then((taint) => {
      heard = taint;
    });
    await until('the reader has heard', async () => {
      await system.ask(restock, undefined);
      return heard !== undefined;
    });
    await listening;
    expect(heard).toEqual(['web:a']);
    // The reader asked to hear of it while the embedder's mailbox was about to be there.
    expect(await system.conservation()).toMatchObject({ holds: true });
  });
});
