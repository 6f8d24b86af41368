import { invalidOptions } from '../../../runtime/protocol/errors.ts';

const SAYING = new Set(['parts', 'messageId', 'taskId', 'contextId', 'metadata', 'delegation']);
const CALL = new Set(['signal', 'timeoutMs', 'returnImmediately', 'historyLength', 'acceptedOutputModes']);

/** Throws INVALID_OPTIONS for what says nothing, or in a field that there is not; what the parts hold is the other side's to judge. */
export function checkSaying(saying: unknown): void {
  checkNames('message', saying, SAYING);
  const { parts } = saying as { parts?: unknown };
  if (!Array.isArray(parts) || parts.length === 0)
    throw invalidOptions('message.parts', parts, 'at least one part');
}

/** Throws INVALID_OPTIONS for an option of a call that there is not. */
export const checkCallOptions = (options: unknown): void => checkNames('options', options, CALL);

/** By hand: it is done for every call. */
function checkNames(field: string, value: unknown, names: ReadonlySet<string>): void {
  if (typeof value !== 'object' || value === null) throw invalidOptions(field, value, 'an object');
  for (const name of Object.keys(value))
    if (!names.has(name))
      throw invalidOptions(
        `${field}.${name}`,
        (value as Record<string, unknown>)[name],
        'no option of this name',
      );
}
