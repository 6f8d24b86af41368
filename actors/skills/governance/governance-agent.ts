import { type AgentDefinition, defineAgent } from '../../../runtime/agent/agent-definition.ts';
import { hashOf } from '../../../runtime/protocol/approval.ts';
import type { Taint } from '../../../runtime/protocol/taint.ts';
import { parseOptions } from '../../../runtime/protocol/parse-options.ts';
import { clientOf, type HandlingContext } from '../../../runtime/public.ts';
import { taskOf } from '../../tasks/task-of.ts';
import { type SkillCaller, skillCallerOf } from '../skill-caller.ts';
import { SkillOptions } from '../skill-options.ts';
import { openStore } from '../store/open-store.ts';
import type { SkillStore } from '../store/skill-store.ts';
import {
  governanceDriftCheck,
  governanceDriftList,
  governancePolicyList,
  governancePolicyPut,
  governancePolicyRemove,
  governancePolicyShow,
  governanceSuppress,
  governanceSuppressions,
  governanceUnsuppress,
  governanceValidate,
} from './governance-capabilities.ts';
import { type GovernanceDeps, Policies } from './policies.ts';
import { PolicyChecks } from './policy-checks.ts';
import { Suppressions } from './suppressions.ts';
import { taintIn } from './tenant-taint.ts';

/** How much is checked, kept and read at a time. */
const CONCURRENCY = 16;

/**
 * The agent that keeps the policies of tenants, and checks by them. Who calls, and of which tenant, is what the runtime says of the
 * envelope. Throws INVALID_OPTIONS; its start fails as `openStore` does.
 */
export function governanceAgent(options: SkillOptions = {}): AgentDefinition<unknown> {
  const { store, roles } = parseOptions(SkillOptions, options, 'governance');
  /** Whatever is answered has where the tenant's policies came from. */
  const handled =
    <Input, Output>(run: (input: Input, work: Work) => Promise<Output>) =>
    async (input: Input, ctx: Context): Promise<Output> => {
      const caller = skillCallerOf(ctx, roles);
      const output = await run(input, { ctx, caller, deps: depsOf(ctx) });
      markAll(ctx, await ctx.state.read(caller.tenant, taintIn));
      return output;
    };
  const agent = defineAgent({
    id: 'governance',
    name: 'GOVERNANCE',
    version: '1.0.0',
    tier: 2,
    description:
      'Governance: policies of companies, organisations, teams and projects, what breaks them, and drift',
    delivery: 'retry',
    defaultCapability: governanceValidate.id,
    onThrow: 'keep',
    concurrency: CONCURRENCY,
  })
    .onStart((ctx) => openStore(store, clientOf(ctx).seams.clock))
    // There is none of an agent that is stopped before it has started.
    .onStop((ctx) => (ctx.state as SkillStore | undefined)?.close())
    .handle(
      governanceValidate,
      handled((input, { deps, caller }) => new PolicyChecks(deps).validate(caller, input)),
    )
    .handle(
      governanceDriftCheck,
      handled((input, { deps, caller }) => new PolicyChecks(deps).checkDrift(caller, input)),
    )
    .handle(
      governanceDriftList,
      handled(async ({ project, limit }, { ctx, deps, caller }) => {
        const { results, taint } = await new PolicyChecks(deps).drifts(caller, project, limit);
        markAll(ctx, taint);
        return { results };
      }),
    )
    .handle(
      governancePolicyPut,
      handled(async ({ policy }, { deps, caller }) => {
        const { stored, changesNothing } = await new Policies(deps).put(caller, policy);
        return { ...stored, changesNothing };
      }),
    )
    .handle(
      governancePolicyList,
      handled(async (query, { deps, caller }) => ({
        policies: await new Policies(deps).list(caller, query),
      })),
    )
    .handle(
      governancePolicyShow,
      handled((which, { ctx, deps, caller }) => new Policies(deps).show(caller, which, taskOf(ctx)?.answer)),
    )
    .handle(
      governancePolicyRemove,
      handled(async (which, { ctx, deps, caller }) => ({
        removed: await new Policies(deps).remove(caller, which, taskOf(ctx)?.answer),
      })),
    )
    .handle(
      governanceSuppress,
      handled((given, { deps, caller }) => new Suppressions(deps).suppress(caller, given)),
    )
    .handle(
      governanceUnsuppress,
      handled(async ({ suppressionId }, { deps, caller }) => ({
        removed: await new Suppressions(deps).remove(caller, suppressionId),
      })),
    )
    .handle(
      governanceSuppressions,
      handled(async ({ limit }, { deps, caller }) => ({
        suppressions: await new Suppressions(deps).list(caller, limit),
      })),
    );
  agent.keepsTaintApart = true;
  return agent;
}

type Context = HandlingContext<SkillStore>;

interface Work {
  readonly ctx: Context;
  readonly caller: SkillCaller;
  readonly deps: GovernanceDeps;
}

/** What a request keeps has an id of its own: when it is tried again it keeps nothing twice. Each keeps one thing at most. */
const depsOf = (ctx: Context): GovernanceDeps => ({
  store: ctx.state,
  now: () => ctx.now(),
  newId: () => hashOf(ctx.envelope.id),
  taint: ctx.taint,
});

function markAll(ctx: Context, taint: Taint | undefined): void {
  for (const source of taint ?? []) ctx.markOutside(source);
}
