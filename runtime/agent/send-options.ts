import { Budget } from '../protocol/budget.ts';
import type { Capability } from '../protocol/capability.ts';
import { EnvelopeMetadata } from '../protocol/envelope.ts';
import { invalidOptions } from '../protocol/errors.ts';
import { parseOptions } from '../protocol/parse-options.ts';
import { Taint } from '../protocol/taint.ts';
import type { AskOptions, Target, TellOptions } from './context.ts';

/** Throws INVALID_OPTIONS for what is no target. */
export function splitTarget(target: Target<unknown, unknown>): {
  agent: string | undefined;
  capability: Capability;
} {
  if (typeof target !== 'object' || target === null) throw invalidOptions('target', target, A_TARGET);
  const { agent } = target as { agent?: string };
  if (agent === undefined) {
    const { id } = target as Capability;
    if (typeof id !== 'string') throw invalidOptions('target', target, A_TARGET);
    return { agent, capability: target as Capability };
  }
  if (typeof agent !== 'string') throw invalidOptions('target.agent', agent, 'the id of an agent');
  const { capability } = target as { capability: Capability | undefined };
  if (typeof capability?.id !== 'string')
    throw invalidOptions('target.capability', capability, 'a capability');
  return target as { agent: string; capability: Capability };
}

const A_TARGET = 'a capability, or { agent, capability }';

/**
 * Throws INVALID_OPTIONS for what would break further on, where nobody knows whose fault it is. Nothing else is looked for:
 * agents send all the time.
 */
export function checkOptions(options: TellOptions): void {
  if (typeof options !== 'object' || options === null)
    throw invalidOptions('options', options, 'an object of options');
  const { correlationId, justification, budget, schema, taint } = options;
  if (taint !== undefined) parseOptions(Taint, taint, 'taint');
  if (budget !== undefined) parseOptions(Budget, budget, 'budget');
  if (correlationId !== undefined && typeof correlationId !== 'string')
    throw invalidOptions('correlationId', correlationId, 'a text');
  if (justification !== undefined && typeof justification !== 'string')
    throw invalidOptions('justification', justification, 'a text');
  if (schema !== undefined && typeof schema !== 'string') throw invalidOptions('schema', schema, 'a text');
}

/** Throws INVALID_OPTIONS for what would break further on. */
export function checkAskOptions(options: AskOptions): void {
  checkOptions(options);
  const { signal, whenFull, onProgress, onSent, onTaint, metadata } = options;
  if (signal !== undefined && typeof signal?.addEventListener !== 'function')
    throw invalidOptions('signal', signal, 'an AbortSignal');
  if (whenFull !== undefined && whenFull !== 'park' && whenFull !== 'reject')
    throw invalidOptions('whenFull', whenFull, 'one of reject, park');
  if (onProgress !== undefined && typeof onProgress !== 'function')
    throw invalidOptions('onProgress', onProgress, 'a function');
  if (onTaint !== undefined && typeof onTaint !== 'function')
    throw invalidOptions('onTaint', onTaint, 'a function');
  if (onSent !== undefined && typeof onSent !== 'function')
    throw invalidOptions('onSent', onSent, 'a function');
  if (metadata !== undefined) requireAdditions(metadata);
}

/** What goes with an envelope says nothing that the runtime says of it. */
function requireAdditions(metadata: unknown): void {
  if (typeof metadata !== 'object' || metadata === null || Array.isArray(metadata))
    throw invalidOptions('metadata', metadata, 'an object');
  const known = Object.keys(metadata).find((key) => key in EnvelopeMetadata.shape);
  if (known !== undefined)
    throw invalidOptions(
      `metadata.${known}`,
      (metadata as Record<string, unknown>)[known],
      'a field of your own',
    );
}
