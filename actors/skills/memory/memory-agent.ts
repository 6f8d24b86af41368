import { z } from 'zod';
import { AgentDefinition } from '../../../runtime/agent/agent-definition.ts';
import { reasonOf, refused } from '../../../runtime/protocol/errors.ts';
import { parseOptions } from '../../../runtime/protocol/parse-options.ts';
import { type ActorContext, clientOf, type HandlingContext } from '../../../runtime/public.ts';
import { type Answered, clientInputs, question } from '../../tasks/client-inputs.ts';
import { type SkillCaller, skillCallerOf } from '../skill-caller.ts';
import { openEmbedder } from '../embedding/open-embedder.ts';
import { openStore } from '../store/open-store.ts';
import { StoredName, storedText } from '../skill-text.ts';
import type { SkillStore } from '../store/skill-store.ts';
import {
  type Memory,
  memoryAdd,
  memoryDelete,
  memoryExport,
  memoryGet,
  memoryList,
  memorySearch,
  memoryUpdate,
  MOST_CONTENT,
  type NamedMemory,
} from './memory-capabilities.ts';
import { MemoryIndexes } from './memory-indexes.ts';
import { MemoryOptions } from './memory-options.ts';
import { MemoryVectors } from './memory-vectors.ts';
import { Memories } from './memories.ts';

interface MemoryState {
  readonly store: SkillStore;
  readonly memories: Memories;
  readonly vectors: MemoryVectors | undefined;
}

type Ctx = HandlingContext<MemoryState>;

/** The agent that remembers. Throws INVALID_OPTIONS naming field and value. */
export function memoryAgent(given: MemoryOptions = {}): AgentDefinition<unknown> {
  const options = parseOptions(MemoryOptions, given, 'memory');
  const callerOf = (ctx: Ctx) => skillCallerOf(ctx, options.roles);
  const agent = new AgentDefinition({
    id: 'memory',
    name: 'MEMORY',
    version: '1.0.0',
    description:
      'Remembers what it is told in layers from one agent to the whole company, and finds it again',
    tier: 2,
    defaultCapability: memorySearch.id,
    concurrency: CONCURRENCY,
    delivery: 'retry',
    onThrow: 'keep',
  })
    .onStart((ctx) => start(ctx, options))
    .onStop(async ({ state }) => {
      // There is none of an agent that is stopped before it has started.
      const { store, vectors } = (state as MemoryState | undefined) ?? {};
      await vectors?.close();
      await store?.close();
    })
    .handle(memoryAdd, async (input, ctx) => {
      const scope = scopeOf(input, ctx);
      const caller = callerOf(ctx);
      const added = await ctx.state.memories.add(caller, { ...input, scope }, ctx.taint);
      if (!added.duplicate)
        ctx.state.vectors?.want(caller.tenant, { id: added.memory_id, content: input.content });
      markAll(ctx, added.contradicts);
      return added;
    })
    .handle(memorySearch, async (input, ctx) => {
      const caller = callerOf(ctx);
      const meaning = await ctx.state.vectors?.meaningOf(caller.tenant, input.query, ctx.signal);
      const found = await ctx.state.memories.search(caller, input, meaning);
      markAll(ctx, found.results);
      return found;
    })
    .handle(memoryGet, async (input, ctx) => {
      const found = await ctx.state.memories.get(callerOf(ctx), idIn(input, ctx), input.history);
      markAll(ctx, [found.memory]);
      return found;
    })
    .handle(memoryList, async (input, ctx) => {
      const page = await ctx.state.memories.list(callerOf(ctx), input);
      markAll(ctx, page.memories);
      return page;
    })
    .handle(memoryUpdate, async (input, ctx) => {
      const caller = callerOf(ctx);
      const id = await idToUpdate(input, { ctx, caller });
      const changes = CHANGES.some((field) => input[field] !== undefined)
        ? input
        : { ...input, content: askedContent(ctx) };
      const changed = await ctx.state.memories.update(caller, id, changes, ctx.taint);
      const { content } = changes;
      if (content !== undefined) ctx.state.vectors?.want(caller.tenant, { id, content });
      markAll(ctx, changed.contradicts);
      return changed;
    })
    .handle(memoryDelete, async (input, ctx) => {
      const id = idIn(input, ctx);
      const { wasThere } = await ctx.state.memories.delete(callerOf(ctx), id);
      return {
        success: true as const,
        memory_id: id,
        message: wasThere ? 'Removed' : 'It was removed already',
      };
    })
    .handle(memoryExport, async (input, ctx) => {
      const page = await ctx.state.memories.export(callerOf(ctx), input);
      markAll(ctx, page.memories);
      return page;
    });
  agent.keepsTaintApart = true;
  return agent;
}

const CONCURRENCY = 16;
const CHANGES = ['content', 'tags', 'importance', 'metadata', 'validFrom', 'validUntil'] as const;

async function start(ctx: ActorContext, options: z.output<typeof MemoryOptions>): Promise<MemoryState> {
  const { note, seams } = clientOf(ctx);
  const { clock, newSecret } = seams;
  const { embedder } = await openEmbedder(options.embedding, { ctx, clock });
  const store = await openStore(options.store, clock);
  const indexes = new MemoryIndexes({
    store,
    model: embedder?.model,
    most: options.indexed,
  });
  const memories = new Memories({
    store,
    indexes,
    now: () => clock.now(),
    newSecret,
    most: options.memories,
  });
  const fails = (error: unknown): void =>
    note({ type: 'error', agentId: ctx.self, success: false, reason: `No vectors: ${reasonOf(error)}` });
  const vectors = embedder && new MemoryVectors({ store, embedder, seams, onFailure: fails });
  return { store, memories, vectors };
}

/** What is given out has where it came from; what else the agent keeps has not. */
function markAll(ctx: Ctx, memories: readonly Pick<Memory, 'taint'>[]): void {
  for (const source of new Set(memories.flatMap(({ taint = [] }) => taint))) ctx.markOutside(source);
}

/** Of a session that nobody names it is the conversation; of an agent, who asks. Whatever else has no name is the only one. */
function scopeOf(
  { layer, scope }: { readonly layer: Memory['layer']; readonly scope?: string | undefined },
  ctx: Ctx,
): string {
  if (scope !== undefined) return scope;
  const { correlationId, sender } = ctx.envelope;
  if (layer === 'session') return conversation(correlationId) ?? askedScope(ctx, 'Which session is it of?');
  return layer === 'agent' ? sender : '';
}

/** Whoever begins a conversation names it as they like. Throws REFUSED for a name that is no scope. */
function conversation(correlationId: string | undefined): string | undefined {
  if (correlationId === undefined || StoredName.safeParse(correlationId).success) return correlationId;
  throw refused('The conversation has a name that no scope can have: say which "scope" is meant');
}

function askedScope(ctx: Ctx, message: string): string {
  const { scope } = clientInputs(ctx, { scope: question(message, z.object({ scope: StoredName })) });
  return contentOf(scope).scope;
}

/** The id under whichever of its names; who named none is asked. */
function idIn(input: NamedMemory, ctx: Ctx): string {
  const named = namedIn(input);
  if (named !== undefined) return named;
  const { which } = clientInputs(ctx, {
    which: question('Which memory?', z.object({ memory_id: z.string().min(1) })),
  });
  return contentOf(which).memory_id;
}

function namedIn({ memory_id, id, memoryId }: NamedMemory): string | undefined {
  const names = new Set([memory_id, id, memoryId].filter((name) => name !== undefined));
  if (names.size > 1) throw refused(`One memory is meant, found ${[...names].join(', ')}`);
  const [named] = names;
  return named;
}

/** The memory to change: by its id, or the only one about a subject; of several the caller says which. */
async function idToUpdate(
  input: NamedMemory & { readonly subject?: string | undefined },
  { ctx, caller }: { readonly ctx: Ctx; readonly caller: SkillCaller },
): Promise<string> {
  const { subject } = input;
  const named = namedIn(input);
  if (named !== undefined || subject === undefined) return named ?? idIn(input, ctx);
  const about = await ctx.state.memories.changeableAbout(caller, subject, MOST_CHOICES);
  const ids = about.map(({ memory_id }) => memory_id);
  if (ids.length === 0) throw refused(`There is no memory about "${subject}" that the caller may change`);
  if (ids.length === 1) return ids[0] as string;
  markAll(ctx, about);
  const choices = about.map(
    ({ memory_id, layer, content }) => `${memory_id} (${layer}): ${shortened(content)}`,
  );
  const { which } = clientInputs(ctx, {
    which: question(
      `Which memory about "${subject}"? ${choices.join('; ')}`,
      z.object({ memory_id: z.enum(ids as [string, ...string[]]) }),
    ),
  });
  return contentOf(which).memory_id;
}

/** What a memory is to say, of a caller who has said nothing that is to be changed. */
function askedContent(ctx: Ctx): string {
  const { says } = clientInputs(ctx, {
    says: question('What is it to say?', z.object({ content: storedText(MOST_CONTENT) })),
  });
  return contentOf(says).content;
}

/** Throws REFUSED for a question that was not answered. */
function contentOf<Content>(answer: Answered<Content>): Content {
  if (answer.action !== 'accept') throw refused('What is missing was not said, so nothing was done');
  return answer.content;
}

const MOST_CHOICES = 10;
const MOST_SHOWN = 80;
const shortened = (text: string): string =>
  text.length <= MOST_SHOWN ? text : `${text.slice(0, MOST_SHOWN - 1)}…`;
