import { capability } from 'orrery';
import { z } from 'zod';

/** What both machines know. */
export const shout = capability({
  id: 'words.shout',
  description: 'Says it louder',
  input: z.string(),
  output: z.string(),
});
