import { capability } from 'orrery';
import { z } from 'zod';

/** The ids of the agents that are never done. */
export const TEAM: readonly string[] = Array.from({ length: 40 }, (_, at) => `restless-${at}`);

/** Goes from agent to agent without end. */
export const roam = capability({
  id: 'restless.roam',
  description: 'Goes on',
  input: z.int(),
  output: z.null(),
});
/** Answered after a while: but one in a hundred fails. */
export const ponder = capability({
  id: 'restless.ponder',
  description: 'Takes a while',
  input: z.int(),
  output: z.int(),
});
