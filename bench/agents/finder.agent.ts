import { defineAgent } from 'orrery';
import { findings } from '../capabilities.ts';
import { makeFinding } from '../envelope.ts';

export const finder = defineAgent({
  id: 'finder',
  name: 'Finder',
  version: '1.0.0',
  description: 'Streams findings',
  tier: 2,
}).handleStream(findings, async function* ({ count }) {
  for (let n = 0; n < count; n++) yield makeFinding(n);
});
