import { z } from 'zod';
import type { AskOptions, Target, TellOptions } from '../agent/context.ts';
import { Budget } from '../protocol/budget.ts';
import { requireCapability } from '../protocol/capability-options.ts';
import { A2AMessageType, Delivery } from '../protocol/envelope.ts';
import { invalidOptions } from '../protocol/errors.ts';
import { MAX_TIMER_MS } from '../protocol/milliseconds.ts';
import { parseOptions, requireFunction, requireText } from '../protocol/parse-options.ts';
import { Taint } from '../protocol/taint.ts';

const Milliseconds = z.number('a finite number of milliseconds');
const isSignal = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && 'aborted' in value && 'addEventListener' in value;

const OfAll = {
  justification: z.string().optional(),
  correlationId: z.string().optional(),
  delivery: Delivery.optional(),
  budget: Budget.optional(),
  schema: z.string().optional(),
  taint: Taint.optional(),
};

const GivenAskOptions = z.strictObject({
  ...OfAll,
  timeoutMs: Milliseconds.optional(),
  signal: z.custom<AbortSignal>(isSignal, 'an AbortSignal').optional(),
  whenFull: z.enum(['reject', 'park']).optional(),
  resumeFrom: z.unknown().optional(),
  metadata: z.record(z.string(), z.unknown()).optional(),
  onSent: z.custom((value) => typeof value === 'function', 'a function').optional(),
  onProgress: z.custom((value) => typeof value === 'function', 'a function').optional(),
  onTaint: z.custom((value) => typeof value === 'function', 'a function').optional(),
});

const GivenTellOptions = z.strictObject({
  ...OfAll,
  type: A2AMessageType.optional(),
  inReplyTo: z.string().optional(),
  deadlineAtMs: Milliseconds.optional(),
});

const DrainMs = z.number().nonnegative().max(MAX_TIMER_MS).optional();
const GivenStopOptions = z.strictObject({ drainMs: DrainMs });
const Limit = z.int().nonnegative();

/** What the embedder gives is checked whole, here at the edge: each of these throws INVALID_OPTIONS naming field and value. */

export function checkAsk(target: unknown, options: AskOptions): void {
  if (typeof target === 'string') throw invalidOptions('target', target, A_TARGET);
  checkTarget(target);
  checkOptions(GivenAskOptions, options);
}

export function checkTell(target: unknown, options: TellOptions): void {
  if (typeof target === 'string') requireText('target', target);
  else checkTarget(target);
  checkOptions(GivenTellOptions, options);
}

/** The options of `stop` with what is left out. */
export const parseDrainMs = (options: unknown, byDefault: number): number =>
  parseOptions(GivenStopOptions, options, 'stop').drainMs ?? byDefault;

export const parseLimit = (limit: number): number => parseOptions(Limit, limit, 'limit');

export function checkReceiver(agentId: string, handler: unknown): void {
  requireText('agentId', agentId);
  requireFunction('handler', handler);
}

const A_TARGET = 'a capability, or { agent, capability }';

function checkTarget(target: unknown): asserts target is Target<unknown, unknown> {
  if (typeof target !== 'object' || target === null) throw invalidOptions('target', target, A_TARGET);
  if (!('agent' in target)) {
    requireCapability('target', target);
    return;
  }
  requireText('target.agent', target.agent);
  requireCapability('target.capability', (target as { capability?: unknown }).capability);
}

function checkOptions(schema: z.ZodType, options: unknown): void {
  if (options === undefined) return;
  if (typeof options !== 'object' || options === null || Array.isArray(options))
    throw invalidOptions('options', options, 'an object of options');
  parseOptions(schema, options, '');
}
