import { capability, considers, defineAgent, negotiatorOf, takeOn, whenAssigned } from 'orrery';
import type { AgentDefinition, HandlingContext, PathHop, TaskProposal } from 'orrery';
import { simulate, type SimulateOptions } from 'orrery/simulate';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';

const dig = capability({ id: 'dig', description: 'Digs', input: z.unknown(), output: z.null() });
const delegate = capability({
  id: 'delegate',
  description: 'Has somebody dig',
  input: z.object({ stays: z.boolean() }),
  output: z.string(),
});

const CARD = { name: 'X', version: '1.0.0', description: 'Bargains', tier: 2 } as const;
type Ctx = HandlingContext<unknown>;

const task = (requiredCapabilities: readonly string[] = ['dig']) => ({
  taskDescription: 'Dig a hole',
  requiredCapabilities,
  estimatedComplexity: 'simple' as const,
  deadlineMs: 2_000,
});

/** Offers to dig, and does `work` when it has the task. */
const digger = (id: string, work: (proposal: TaskProposal, ctx: Ctx) => unknown) =>
  defineAgent({ ...CARD, id })
    .handle(dig, () => null)
    .on(
      'task-proposal',
      considers(() => takeOn({ estimatedCompletionMs: 60_000 })),
    )
    .on('task-accept', whenAssigned(work));

/** Proposes to `venus`, and goes on for a minute if it stays. */
const boss = defineAgent({ ...CARD, id: 'boss', handlingTimeoutMs: 120_000 }).handle(
  delegate,
  async ({ stays }, ctx) => {
    const { status, rejectionReason = '' } = await negotiatorOf(ctx).propose(task());
    if (stays) await ctx.sleep(60_000);
    return `${status} ${rejectionReason}`;
  },
);

const run = async <Value>(
  agents: readonly AgentDefinition<unknown>[],
  act: (...given: Parameters<NonNullable<SimulateOptions['run']>>) => Promise<Value>,
): Promise<Value> => {
  const { value, error, violations, ending } = await simulate({ agents, run: act });
  expect({ error, violations, ending }).toEqual({ error: undefined, violations: [], ending: 'quiet' });
  return value as Value;
};

describe('What is assigned stands below what it was proposed in (F-04)', () => {
  it('two agents that hand a task to each other come to an end: PATH_LOOP', async () => {
    const paths: PathHop[][] = [];
    const ends: (string | undefined)[] = [];
    const passing = (id: string, other: string) =>
      digger(id, async (proposal, ctx) => {
        paths.push([...(ctx.envelope.metadata?.path ?? [])]);
        if (paths.length > 20) return;
        const answer = await negotiatorOf(ctx).propose(task(proposal.requiredCapabilities), { to: other });
        ends.push(answer.rejectionReason);
      });
    await run([passing('mars', 'venus'), passing('venus', 'mars')], async (team, { sleep }) => {
      await team.negotiator.propose(task(), { to: 'mars' });
      await sleep(30_000);
    });
    expect(paths.map((path) => path.map(({ agent, capability: what }) => `${agent} ${what}`))).toEqual([
      ['mars dig'],
      ['mars dig', 'venus dig'],
    ]);
    expect(ends).toEqual(['PATH_LOOP', undefined]);
  });

  it.each([
    ['several capabilities', ['dig', 'test.other']],
    ['none', []],
  ])('also with %s required', async (_, required) => {
    let rounds = 0;
    const ends: (string | undefined)[] = [];
    const other = capability({
      id: 'test.other',
      description: 'Another',
      input: z.unknown(),
      output: z.null(),
    });
    const passing = (id: string, to: string) =>
      digger(id, async (_proposal, ctx) => {
        rounds += 1;
        if (rounds > 20) return;
        ends.push((await negotiatorOf(ctx).propose(task(required), { to })).rejectionReason);
      }).handle(other, () => null);
    await run([passing('mars', 'venus'), passing('venus', 'mars')], async (team, { sleep }) => {
      await team.negotiator.propose(task(required), { to: 'mars' });
      await sleep(30_000);
    });
    expect({ rounds, ends }).toEqual({ rounds: 2, ends: ['PATH_LOOP', undefined] });
  });

  it('spends from the budget of the work, also when that is over (F-04)', async () => {
    const spent: string[] = [];
    const venus = digger('venus', async (_proposal, ctx) => {
      await ctx.sleep(100); // By now the work in which it was proposed has ended.
      spent.push(`may spend ${ctx.budget.tokens}`);
      for (const tokens of [4, 4, 1_000]) {
        try {
          ctx.spend({ tokens });
          spent.push(`spent ${tokens}`);
        } catch (error) {
          spent.push((error as { code: string }).code);
        }
      }
    });
    const answer = await run([boss, venus], async (team, { sleep }) => {
      const said = await team.ask(delegate, { stays: false }, { budget: { tokens: 10 } });
      await sleep(5_000);
      return said;
    });
    expect(answer).toBe('accepted ');
    expect(spent).toEqual(['may spend 10', 'spent 4', 'spent 4', 'BUDGET_EXCEEDED']);
  });

  it('has no more delegations than the work has', async () => {
    const ends: string[] = [];
    const venus = digger('venus', async (_proposal, ctx) => {
      ends.push(`hops ${ctx.budget.hops}`);
      ends.push((await negotiatorOf(ctx).propose(task(), { to: 'earth' })).rejectionReason ?? 'accepted');
    });
    const earth = digger('earth', () => void ends.push('earth digs'));
    const first = defineAgent({ ...CARD, id: 'boss' }).handle(delegate, async (_input, ctx) => {
      return (await negotiatorOf(ctx).propose(task(), { to: 'venus' })).status;
    });
    await run([first, venus, earth], async (team, { sleep }) => {
      await team.ask(delegate, { stays: false }, { budget: { hops: 1 } });
      await sleep(5_000);
    });
    expect(ends).toEqual(['hops 0', 'HOP_LIMIT']);
  });

  it('has no later deadline than the work, and ends when that is cancelled', async () => {
    const seen: string[] = [];
    const venus = digger('venus', async (_proposal, ctx) => {
      seen.push(
        `until ${(ctx.envelope.metadata?.deadlineAtMs ?? Number.NaN) - ctx.envelope.timestamp > 19_000}`,
      );
      await ctx.sleep(60_000).catch(() => seen.push('cut off'));
    });
    await run([boss, venus], async (team, { sleep }) => {
      const stop = new AbortController();
      const asked = team.ask(delegate, { stays: true }, { timeoutMs: 20_000, signal: stop.signal });
      await sleep(2_000);
      expect(seen).toEqual(['until true']);
      stop.abort();
      await asked.catch(() => undefined);
      await sleep(1_000);
      expect(seen).toEqual(['until true', 'cut off']);
    });
  });
});
