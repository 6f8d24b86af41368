import { type AgentDefinition, defineAgent } from '../../../runtime/agent/agent-definition.ts';
import { parseOptions } from '../../../runtime/protocol/parse-options.ts';
import { clientOf } from '../../../runtime/public.ts';
import { openStore } from '../store/open-store.ts';
import {
  knowledgeAdd,
  knowledgeCheck,
  knowledgePromote,
  knowledgeQuery,
  knowledgeRemove,
  knowledgeShow,
  knowledgeStatus,
  knowledgeSync,
} from './knowledge-capabilities.ts';
import { KnowledgeOptions } from './knowledge-options.ts';
import { KnowledgeSkill } from './knowledge-skill.ts';

/** Reading a large repository takes its time. */
const HANDLING_TIMEOUT_MS = 600_000;

/** The agent that keeps the knowledge of projects, teams and organisations, and checks against it. Throws INVALID_OPTIONS. */
export function knowledgeAgent(options: KnowledgeOptions = {}): AgentDefinition<unknown> {
  const { store: place, roles, knowledge } = parseOptions(KnowledgeOptions, options, 'knowledgeAgent');
  const agent = defineAgent({
    id: 'knowledge',
    name: 'KNOWLEDGE',
    version: '1.0.0',
    description:
      'Keeps decisions, policies, patterns, specifications and lessons, and checks projects against them',
    tier: 2,
    concurrency: 16,
    onThrow: 'keep',
    handlingTimeoutMs: HANDLING_TIMEOUT_MS,
    defaultCapability: knowledgeQuery.id,
  })
    .onStart(async (ctx) => {
      const { clock, newSecret } = clientOf(ctx).seams;
      const store = await openStore(place, clock);
      return new KnowledgeSkill({
        store,
        now: () => clock.now(),
        newId: newSecret,
        roles,
        sources: knowledge.sources,
      });
    })
    .handle(knowledgeQuery, (input, ctx) => ctx.state.query(input, ctx))
    .handle(knowledgeShow, (input, ctx) => ctx.state.show(input, ctx))
    .handle(knowledgeCheck, (input, ctx) => ctx.state.check(input, ctx))
    .handle(knowledgeAdd, (input, ctx) => ctx.state.add(input, ctx))
    .handle(knowledgeStatus, (input, ctx) => ctx.state.setStatus(input, ctx))
    .handle(knowledgePromote, (input, ctx) => ctx.state.promote(input, ctx))
    .handle(knowledgeRemove, (input, ctx) => ctx.state.remove(input, ctx))
    .handle(knowledgeSync, (input, ctx) => ctx.state.sync(input, ctx))
    // There is none of an agent that is stopped before it has started.
    .onStop((ctx) => (ctx.state as KnowledgeSkill | undefined)?.close());
  agent.keepsTaintApart = true;
  return agent;
}
