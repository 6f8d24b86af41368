import { z } from 'zod';
import { AgentTier } from '../../runtime/protocol/agent-card.ts';
import { Budget } from '../../runtime/protocol/budget.ts';
import { notPermitted } from '../../runtime/protocol/edge-errors.ts';
import { EnvelopeMetadata } from '../../runtime/protocol/envelope.ts';
import { invalidOptions, notSerialisable } from '../../runtime/protocol/errors.ts';
import { findUnserialisable } from '../../runtime/protocol/json.ts';
import { parseOptions, requireFunction } from '../../runtime/protocol/parse-options.ts';
import { Taint } from '../../runtime/protocol/taint.ts';
import type { Tool } from '../../runtime/protocol/tool.ts';
import type { CallOptions, Completing } from '../../runtime/protocol/tool-service.ts';

/** How long a call is waited for that does not say, milliseconds. */
export const DEFAULT_CALL_MS = 30_000;

const As = z.strictObject({
  id: z.string().min(1),
  tier: AgentTier,
  tenant: z.string().min(1).optional(),
  roles: z.array(z.string().min(1)).readonly().optional(),
  sandboxId: z.string().min(1).optional(),
  chargedAs: z.string().min(1).optional(),
});
const NAMES: ReadonlySet<string> = new Set<keyof CallOptions>([
  'as',
  'readOnly',
  'taint',
  'deadlineAtMs',
  'budget',
  'signal',
  'onProgress',
  'onReport',
  'onTaint',
  'metadata',
]);

/**
 * Throws INVALID_OPTIONS naming field and value, also for an option that there is not: a misspelled `readOnly` or `taint` would
 * let a call through that is not meant to be.
 */
export function requireCallOptions(options: CallOptions): void {
  if (typeof options !== 'object' || options === null || Array.isArray(options))
    throw invalidOptions('options', options, 'an object of options');
  for (const [name, value] of Object.entries(options))
    if (!NAMES.has(name)) throw invalidOptions(name, value, 'no option of this name');
  const { as, readOnly, taint, deadlineAtMs, budget, signal, onProgress, onReport, onTaint, metadata } =
    options;
  if (as !== undefined) parseOptions(As, as, 'as');
  if (readOnly !== undefined && typeof readOnly !== 'boolean')
    throw invalidOptions('readOnly', readOnly, 'boolean');
  if (taint !== undefined) parseOptions(Taint, taint, 'taint');
  if (budget !== undefined) parseOptions(Budget, budget, 'budget');
  if (deadlineAtMs !== undefined && !Number.isFinite(deadlineAtMs))
    throw invalidOptions('deadlineAtMs', deadlineAtMs, 'Unix milliseconds');
  if (signal !== undefined && typeof signal?.addEventListener !== 'function')
    throw invalidOptions('signal', signal, 'an AbortSignal');
  if (onProgress !== undefined) requireFunction('onProgress', onProgress);
  if (onReport !== undefined) requireFunction('onReport', onReport);
  if (onTaint !== undefined) requireFunction('onTaint', onTaint);
  if (metadata !== undefined) requireMetadata(metadata);
}

/** Throws INVALID_OPTIONS for what names neither a prompt nor a template; what is wrong with the rest its agent says. */
export function requireCompleting(completing: Completing): void {
  const of: { prompt?: unknown; uriTemplate?: unknown } | undefined = completing?.of;
  const name = of?.prompt ?? of?.uriTemplate;
  if (typeof name !== 'string') throw invalidOptions('of', of, '{ prompt } or { uriTemplate }');
}

function requireMetadata(metadata: Readonly<Record<string, unknown>>): void {
  if (typeof metadata !== 'object' || metadata === null || Array.isArray(metadata))
    throw invalidOptions('metadata', metadata, 'an object');
  const known = Object.keys(metadata).find((key) => key in EnvelopeMetadata.shape);
  if (known !== undefined) throw invalidOptions(`metadata.${known}`, metadata[known], 'a field of your own');
  const fault = findUnserialisable(metadata, 'metadata');
  if (fault !== undefined) throw notSerialisable(fault.path, fault.kind);
}

/** Throws NOT_PERMITTED for a tool that may change something, where only others may be called. */
export function requireReadOnly({ name, annotations }: Tool, { readOnly }: CallOptions): void {
  if (readOnly === true && annotations.readOnly !== true)
    throw notPermitted(`"${name}" is not declared readOnly, and only such tools may be called`);
}
