import { z } from 'zod';
import { AgentTier } from '../../runtime/protocol/agent-card.ts';
import { Budget } from '../../runtime/protocol/budget.ts';
import { notPermitted } from '../../runtime/protocol/edge-errors.ts';
import { EnvelopeMetadata } from '../../runtime/protocol/envelope.ts';
import { invalidOptions, notSerialisable } from '../../runtime/protocol/errors.ts';
import { findUnserialisable } from '../../runtime/protocol/json-safety.ts';
import { parseOptions } from '../../runtime/protocol/parse-options.ts';
import type { Tool } from '../../runtime/protocol/tool.ts';
import type { CallOptions } from '../../runtime/protocol/tool-service.ts';

/** How long a call is waited for that does not say, milliseconds. */
export const DEFAULT_CALL_MS = 30_000;

const As = z.strictObject({ id: z.string().min(1), tier: AgentTier });

/** Throws INVALID_OPTIONS naming field and value for what would break further on, or say what the runtime says. */
export function requireCallOptions({ as, deadlineAtMs, budget, signal, metadata }: CallOptions): void {
  if (as !== undefined) parseOptions(As, as, 'as');
  if (budget !== undefined) parseOptions(Budget, budget, 'budget');
  if (deadlineAtMs !== undefined && !Number.isFinite(deadlineAtMs))
    throw invalidOptions('deadlineAtMs', deadlineAtMs, 'Unix milliseconds');
  if (signal !== undefined && typeof signal.addEventListener !== 'function')
    throw invalidOptions('signal', signal, 'an AbortSignal');
  if (metadata !== undefined) requireMetadata(metadata);
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
