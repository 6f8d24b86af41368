// Two agents and one question. Run: npm exec -- node --conditions=orrery-source examples/hello.ts
import { capability, defineAgent, startSystem } from 'orrery';
import { z } from 'zod';

const greet = capability({
  id: 'greeting.make',
  description: 'Greets somebody',
  input: z.object({ name: z.string() }),
  output: z.string(),
});
const shout = capability({
  id: 'text.shout',
  description: 'Says it loudly',
  input: z.string(),
  output: z.string(),
});

const identity = { version: '1.0.0', tier: 2 } as const;
const venus = defineAgent({ id: 'venus', name: 'VENUS', description: 'Speaks', ...identity }).handle(
  shout,
  (text) => `${text.toUpperCase()}!`,
);
const mars = defineAgent({ id: 'mars', name: 'MARS', description: 'Greets', ...identity }).handle(
  greet,
  async ({ name }, ctx) => await ctx.ask(shout, `hello, ${name}`),
);

await using system = await startSystem({ agents: [venus, mars] });
console.log(await system.ask(greet, { name: 'world' }));
