import fc from 'fast-check';
import { startSystem, type Taint, type Team } from 'orrery';
import { approveWith } from 'orrery/tasks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { danger, flow, peek, run, type Seen, type Step } from '../fixtures/agents/graph.ts';
import { TaintModel, type Told, union } from '../fixtures/taint-model.ts';
import { agent } from '../fixtures/until.ts';

/** Two in the embedder's thread, three in two others. */
const INLINE = ['earth', 'moon'];
const THREADS = ['mars', 'venus', 'juno'];
const AGENTS = [...INLINE, ...THREADS];
const SOURCES = ['web:a', 'web:b', 'mcp:c'];

/** A step whose recipient is not named yet: nobody asks whoever waits for it. */
type Rough =
  | Exclude<Step, { steps: unknown }>
  | { do: 'ask' | 'stream' | 'tell' | 'danger'; nth: number; approve: boolean; steps: Rough[] };

interface Root {
  readonly do: 'ask' | 'stream' | 'danger';
  readonly nth: number;
  readonly approve: boolean;
  readonly taint: readonly string[];
  readonly steps: Rough[];
}

const { steps } = fc.letrec<{ step: Rough; steps: Rough[] }>((tie) => ({
  step: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    {
      weight: 3,
      arbitrary: fc.record({ do: fc.constant('mark' as const), source: fc.constantFrom(...SOURCES) }),
    },
    { weight: 2, arbitrary: fc.constantFrom<Rough>({ do: 'clean' }, { do: 'report' }, { do: 'crash' }) },
    {
      weight: 5,
      arbitrary: fc.record({
        do: fc.constantFrom('ask' as const, 'stream' as const, 'tell' as const, 'danger' as const),
        nth: fc.nat(20),
        approve: fc.boolean(),
        steps: tie('steps'),
      }),
    },
  ),
  steps: fc.array(tie('step'), { maxLength: 4, depthIdentifier: 'graph' }),
}));

const root: fc.Arbitrary<Root> = fc.record({
  do: fc.constantFrom('ask' as const, 'stream' as const, 'danger' as const),
  nth: fc.nat(20),
  approve: fc.boolean(),
  taint: fc.oneof(fc.constant([]), fc.subarray(SOURCES)),
  steps,
});

/** Names recipients; where nobody is left that does not wait, the step is left out. */
function named(rough: readonly Rough[], path: readonly string[]): Step[] {
  const others = AGENTS.filter((id) => !path.includes(id));
  return rough.flatMap((step): Step[] => {
    if (!('nth' in step)) return [step];
    const to = others[step.nth % Math.max(1, others.length)];
    return to === undefined ? [] : [{ ...step, to, steps: named(step.steps, [...path, to]) }];
  });
}

let system: Team;
let asked: string[] = [];

beforeAll(async () => {
  system = await startSystem({
    agents: [
      agent('graph', { instances: INLINE, isolation: 'inline' as const }),
      agent('graph', { instances: THREADS }),
    ],
    supervision: { intensity: { maxRestarts: 1e9 }, backOff: { firstMs: 1, maxMs: 1 } },
  });
  await approveWith(system, ({ details }, { agentId }) => {
    asked.push(agentId);
    return (details as { input: { approve: boolean } }).input.approve;
  });
});
afterAll(() => system.stop());

async function perform({ do: what, approve, taint: given }: Root, to: string, does: readonly Step[]) {
  let taint: readonly string[] = [];
  const onTaint = (more: Taint): void => {
    taint = union(taint, more);
  };
  const options = { onTaint, ...(given.length === 0 ? {} : { taint: given }) };
  const input = { steps: [...does] };
  const told = async (): Promise<Seen | string> => {
    if (what === 'ask') return system.ask({ agent: to, capability: run }, input, options);
    if (what === 'danger')
      return system.ask({ agent: to, capability: danger }, { ...input, approve }, options);
    let last: Seen | undefined;
    for await (const chunk of system.stream({ agent: to, capability: flow }, input, options))
      if (typeof chunk === 'object') last = chunk;
    return last as Seen;
  };
  const seen = await told().catch((error: { code: string }) => error.code);
  return { seen, taint } satisfies Told;
}

const expected = (
  model: TaintModel,
  { do: what, approve, taint }: Root,
  to: string,
  does: readonly Step[],
): Told =>
  what === 'danger'
    ? model.danger(to, does, [...taint].sort(), approve)
    : model[what](to, does, [...taint].sort());

describe('taint (F-09)', () => {
  it('is on what came from outside and on nothing else, and nothing privileged is done with it unapproved', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(root, { minLength: 1, maxLength: 4 }), async (roots) => {
        const model = new TaintModel();
        asked = [];
        for (const id of AGENTS)
          await system.ask({ agent: id, capability: run }, { steps: [{ do: 'clean' }] });
        for (const one of roots) {
          const to = AGENTS[one.nth % AGENTS.length] as string;
          const does = named(one.steps, [to]);
          expect(await perform(one, to, does)).toEqual(expected(model, one, to, does));
        }
        for (const id of AGENTS)
          expect({ id, taint: await system.ask({ agent: id, capability: peek }, undefined) }).toEqual({
            id,
            taint: model.of(id),
          });
        expect(asked).toEqual(model.asked);
      }),
      { numRuns: 150 },
    );
  }, 240_000);
});
