import { defineAgent } from 'orrery';
import { z } from 'zod';
import { tally } from './tally.ts';

/** Knows the order, too: so its state is of another kind, and it says what becomes of the former one. */
export const counter = defineAgent({
  id: 'counter',
  name: 'COUNTER',
  version: '2.0.0',
  description: 'Counts words, and knows the order',
  tier: 2,
})
  .onStart(() => ({ words: [] as string[] }))
  .keepsState(z.object({ words: z.array(z.string()) }))
  .migrate('1.x', ({ counts }: { counts: Record<string, number> }) => ({
    words: Object.entries(counts).flatMap(([word, count]) => Array.from({ length: count }, () => word)),
  }))
  .handle(tally, (word, { state }) => {
    state.words.push(word);
    return `${word}: ${state.words.filter((one) => one === word).length}, after ${state.words.at(-2)}`;
  });
