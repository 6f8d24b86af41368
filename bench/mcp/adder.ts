import { capability, defineAgent } from 'orrery';
import { AGENT, DESCRIPTION, Sum, Summands, toolNames } from './server-order.ts';

/** An agent with so many tools. */
export function adder(count: number) {
  const agent = defineAgent({
    id: AGENT,
    name: 'ADDER',
    version: '1.0.0',
    description: DESCRIPTION,
    tier: 3,
  });
  for (const id of toolNames(count))
    agent.handle(
      capability({ id, description: DESCRIPTION, input: Summands, output: Sum, readOnly: true }),
      ({ a, b }) => ({ sum: a + b }),
    );
  return agent;
}
