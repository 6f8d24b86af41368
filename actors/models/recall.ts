import { z } from 'zod';
import { capability, parseOutput } from '../../runtime/protocol/capability.ts';
import { isOrreryError, type OrreryError } from '../../runtime/protocol/errors.ts';
import { clientOf, type HandlingContext } from '../../runtime/public.ts';
import type { ModelMemory } from './model-memory.ts';
import { Remembered, rememberedText } from './remembered-text.ts';

/** What is asked of whoever remembers, as far as it is needed here: other agents than the skill may remember, too. */
const search = capability({
  id: 'memory_search',
  description: 'Finds memories',
  input: z.object({
    query: z.string(),
    limit: z.int(),
    minScore: z.number(),
    withShadowed: z.boolean(),
    layers: z.array(z.string()).readonly().optional(),
    tags: z.array(z.string()).readonly().optional(),
  }),
  output: z.object({ results: z.array(Remembered) }),
  readOnly: true,
});

const MOST_QUERY = 4_000;
/** The share of the time for the work that recalling may take, at most. */
const SHARE_OF_TIME = 0.25;

/**
 * - `prompt`       what the model is to be asked.
 * - `deadlineAtMs` of the work, Unix milliseconds.
 * - `signal`       ends it, beside the end of the work.
 */
export interface RecallTerms {
  readonly prompt: string;
  readonly memory: z.output<typeof ModelMemory>;
  readonly deadlineAtMs: number;
  readonly signal: AbortSignal;
}

/**
 * What is remembered that has to do with a prompt, as a text for the model, for the caller of the work in hand; '' where there is
 * nothing. The agent has the taint of what it is given. It is a help, and no condition: where nobody remembers, or searching fails,
 * that is told as progress and as an event, and the work goes on. Rejects only with the reason for which the work is over.
 */
export async function recall(ctx: HandlingContext<never>, terms: RecallTerms): Promise<string> {
  const { prompt, memory, signal } = terms;
  const query = queryOf(prompt);
  if (query === '') return '';
  try {
    const found = await searched(ctx, query, terms);
    const holding = found.filter(({ shadowed }) => shadowed !== true).slice(0, memory.most);
    return rememberedText(holding, memory.maxChars);
  } catch (error) {
    ctx.signal.throwIfAborted();
    signal.throwIfAborted();
    if (!isOrreryError(error)) throw error;
    noteFailure(ctx, error);
    return '';
  }
}

async function searched(
  ctx: HandlingContext<never>,
  query: string,
  { memory, deadlineAtMs, signal }: RecallTerms,
): Promise<readonly Remembered[]> {
  const { agent, most: limit, minScore, layers, tags } = memory;
  const share = Math.max(0, Math.floor(SHARE_OF_TIME * (deadlineAtMs - ctx.now())));
  const answer = await ctx.ask(
    { agent, capability: search },
    {
      query,
      limit,
      minScore,
      withShadowed: false,
      ...(layers === undefined ? {} : { layers }),
      ...(tags === undefined ? {} : { tags }),
    },
    { timeoutMs: Math.min(memory.timeoutMs, share), signal },
  );
  // Whoever answers has checked it by a schema of its own.
  return parseOutput(search, answer, agent).results;
}

/** The beginning of a prompt, as a text that every store can be asked for. */
const queryOf = (prompt: string): string =>
  prompt.trimStart().slice(0, MOST_QUERY).toWellFormed().replaceAll('\0', ' ').trim();

/** Tells the asker and the owner. An agent in a process of its own tells the asker alone. */
function noteFailure(ctx: HandlingContext<never>, { code, message }: OrreryError): void {
  ctx.progress(0, `nothing is recalled: ${code}`);
  // Callers who have proved nothing are told of nothing that is remembered: else they could fill the owner's log.
  if (code === 'UNAUTHENTICATED') return;
  const { self, envelope } = ctx;
  try {
    clientOf(ctx).note({
      type: 'warning',
      agentId: self,
      envelopeId: envelope.id,
      errorCode: code,
      reason: `Nothing is recalled: ${message}`,
      success: false,
    });
  } catch {
    // No client.
  }
}
