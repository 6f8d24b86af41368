// An agent that works with the tools of others, by their names, as a model does.
// Run: npm exec -- node --conditions=orrery-source examples/tools.ts
import { capability, defineAgent, isOrreryError, startSystem } from 'orrery';
import { toolsOf } from 'orrery/tools';
import { z } from 'zod';

const Two = z.object({ a: z.number(), b: z.number() });
const add = capability({
  id: 'numbers.add',
  description: 'Adds',
  input: Two,
  output: z.number(),
  readOnly: true,
});
const divide = capability({ id: 'numbers.divide', description: 'Divides', input: Two, output: z.number() });
const Step = z.object({ tool: z.string(), input: z.json() });
const work = capability({
  id: 'plan.work',
  description: 'Works off a plan',
  input: z.array(Step),
  output: z.array(z.json()),
});
const card = { version: '1.0.0', description: 'Calculates', tier: 3 } as const;

const io = defineAgent({ id: 'io', name: 'IO', ...card })
  .handle(add, ({ a, b }) => a + b)
  .handle(divide, ({ a, b }) => a / b)
  .resource({ uri: 'io://limits', name: 'limits' }, () => [{ uri: 'io://limits', text: 'It has no zero.' }]);

// Its calls belong to the work in hand: to its deadline, budget and cancellation.
const planner = defineAgent({ id: 'planner', name: 'PLANNER', ...card }).handle(work, async (plan, ctx) => {
  const tools = toolsOf(ctx);
  const results: z.infer<typeof work.output> = [];
  for (const { tool, input } of plan) {
    // What goes wrong is told, as a model would read it.
    const result = await tools
      .call(tool, input)
      .catch((error: unknown) => (isOrreryError(error) ? error.code : Promise.reject(error)));
    results.push(result as z.infer<typeof Step>['input']);
  }
  return results;
});

await using system = await startSystem({ agents: [io, planner] });
const results = await system.ask(work, [
  { tool: 'io.numbers.add', input: { a: 2, b: 3 } },
  { tool: 'io.numbers.divide', input: { a: 10, b: 4 } },
  { tool: 'io.numbers.divide', input: { a: 10, b: 0 } },
  { tool: 'io.numbers.add', input: { a: 'two', b: 3 } },
  { tool: 'io.numbers.root', input: 4 },
]);
console.log(results);

const tools = toolsOf(system);
console.log(tools.tools().map(({ name }) => name));
console.log(await tools.read('io://limits'));
