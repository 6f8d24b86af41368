import { type AgentDefinition, defineAgent } from '../../../runtime/agent/agent-definition.ts';
import { hashOf } from '../../../runtime/protocol/approval.ts';
import { parseOptions } from '../../../runtime/protocol/parse-options.ts';
import { clientOf, type HandlingContext } from '../../../runtime/public.ts';
import { taskOf } from '../../tasks/task-of.ts';
import { type SkillCaller, skillCallerOf } from '../skill-caller.ts';
import { openStore, SkillOptions } from '../skill-options.ts';
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

/** How much is checked, kept and read at a time. */
const CONCURRENCY = 16;

/**
 * The agent that keeps the policies of tenants, and checks by them. Who calls, and of which tenant, is what the runtime says of the
 * envelope. Throws INVALID_OPTIONS; its start fails as `openStore` does.
 */
export function governanceAgent(options: SkillOptions = {}): AgentDefinition<SkillStore> {
  const { store, roles } = parseOptions(SkillOptions, options, 'governance');
  const callerOf = (ctx: Context): SkillCaller => skillCallerOf(ctx, roles);
  return (
    defineAgent({
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
      .handle(governanceValidate, (input, ctx) =>
        new PolicyChecks(depsOf(ctx)).validate(callerOf(ctx), input),
      )
      .handle(governanceDriftCheck, (input, ctx) =>
        new PolicyChecks(depsOf(ctx)).checkDrift(callerOf(ctx), input),
      )
      .handle(governanceDriftList, async ({ project, limit }, ctx) => ({
        results: await new PolicyChecks(depsOf(ctx)).drifts(callerOf(ctx), project, limit),
      }))
      .handle(governancePolicyPut, async ({ policy }, ctx) => {
        const { stored, changesNothing } = await new Policies(depsOf(ctx)).put(callerOf(ctx), policy);
        return { ...stored, changesNothing };
      })
      .handle(governancePolicyList, async (query, ctx) => ({
        policies: await new Policies(depsOf(ctx)).list(callerOf(ctx), query),
      }))
      .handle(governancePolicyShow, (which, ctx) =>
        new Policies(depsOf(ctx)).show(callerOf(ctx), which, taskOf(ctx)?.answer),
      )
      .handle(governancePolicyRemove, async (which, ctx) => ({
        removed: await new Policies(depsOf(ctx)).remove(callerOf(ctx), which, taskOf(ctx)?.answer),
      }))
      .handle(governanceSuppress, (given, ctx) =>
        new Suppressions(depsOf(ctx)).suppress(callerOf(ctx), given),
      )
      .handle(governanceUnsuppress, async ({ suppressionId }, ctx) => ({
        removed: await new Suppressions(depsOf(ctx)).remove(callerOf(ctx), suppressionId),
      }))
      .handle(governanceSuppressions, async ({ limit }, ctx) => ({
        suppressions: await new Suppressions(depsOf(ctx)).list(callerOf(ctx), limit),
      }))
  );
}

type Context = HandlingContext<SkillStore>;

/** What a request keeps has an id of its own: when it is tried again it keeps nothing twice. Each keeps one thing at most. */
const depsOf = (ctx: Context): GovernanceDeps => ({
  store: ctx.state,
  now: () => ctx.now(),
  newId: () => hashOf(ctx.envelope.id),
});
