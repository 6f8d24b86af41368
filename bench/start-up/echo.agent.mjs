import { capability, defineAgent } from 'orrery';
import { z } from 'zod';

export const echo = capability({
  id: 'echo',
  description: 'Says it again',
  input: z.string(),
  output: z.string(),
});

export const echoer = defineAgent({
  id: 'echoer',
  name: 'Echoer',
  version: '1.0.0',
  description: 'Echoes',
  tier: 3,
}).handle(echo, (text) => text);
