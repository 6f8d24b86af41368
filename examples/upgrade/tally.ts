import { capability } from 'orrery';
import { z } from 'zod';

export const tally = capability({
  id: 'words.tally',
  description: 'Counts a word',
  input: z.string(),
  output: z.string(),
});
