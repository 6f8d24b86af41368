import { defineAgent } from 'orrery';
import { z } from 'zod';
import { tally } from './tally.ts';

/** Counts how often it was given each word. */
export const counter = defineAgent({
  id: 'counter',
  name: 'COUNTER',
  version: '1.0.0',
  description: 'Counts words',
  tier: 2,
})
  .onStart(() => ({ counts: {} as Record<string, number> }))
  .keepsState(z.object({ counts: z.record(z.string(), z.int()) }))
  .handle(tally, (word, { state }) => {
    state.counts[word] = (state.counts[word] ?? 0) + 1;
    return `${word}: ${state.counts[word]}`;
  });
