import type { AgentCard, CapabilityDescriptor } from '../../runtime/protocol/agent-card.ts';
import { OrreryError } from '../../runtime/protocol/errors.ts';
import type { TaskMessage } from '../../runtime/protocol/task.ts';
import type { Json } from './task-log.ts';

/**
 * What a message says, as far as a capability can be given it.
 *
 * - `tool`      the capability that it names, with `arguments`, in a data part `{tool, arguments}`.
 * - `text`      its text parts, one below the other; undefined without any.
 * - `data`      its other data: one value, or the fields of all of its objects.
 */
export interface SaidWords {
  readonly tool: string | undefined;
  readonly arguments: Json | undefined;
  readonly text: string | undefined;
  readonly data: Json | undefined;
}

export function wordsOf({ parts }: TaskMessage): SaidWords {
  const texts = parts.flatMap((part) => ('text' in part ? [part.text] : []));
  const data = parts.flatMap((part) => ('data' in part ? [part.data] : []));
  const call = data.find(isCall);
  const others = data.filter((value) => value !== call);
  const [first, ...more] = others.filter(isObject);
  return {
    tool: call?.tool,
    arguments: call?.arguments ?? undefined,
    text: texts.length === 0 ? undefined : texts.join('\n'),
    data: more.length === 0 ? (first ?? others[0]) : inOne([first as object, ...more]),
  };
}

/** The fields of all; of those of one name the last counts. */
const inOne = (objects: readonly object[]): { readonly [field: string]: Json } =>
  Object.fromEntries(objects.flatMap(Object.entries));

/**
 * The capability that a message means (C-38): the one that it names, by id or as `agent.capability`; else `current`, that of
 * its task; else the one that the card marks as default, or the only one. Throws INVALID_PAYLOAD naming the choices.
 */
export function capabilityMeant(
  card: AgentCard,
  { tool }: Pick<SaidWords, 'tool'>,
  current?: string,
): CapabilityDescriptor {
  const { id, name, capabilities, defaultCapability } = card;
  const [first, ...others] = capabilities;
  const wanted = tool ?? current ?? defaultCapability ?? (others.length === 0 ? first?.id : undefined);
  const found = capabilities.find(
    (one) => wanted === one.id || wanted === `${id}.${one.id}` || wanted === `${name}.${one.id}`,
  );
  if (found !== undefined) return found;
  const choices = capabilities.map((one) => one.id);
  const what =
    wanted === undefined ? 'The message names no capability' : `${id} has no capability "${wanted}"`;
  const hint =
    choices.length === 0
      ? `${id} has none`
      : `a data part {tool, arguments} names one of ${choices.join(', ')}`;
  throw new OrreryError('INVALID_PAYLOAD', `${what}: ${hint}`, { details: { agentId: id, choices } });
}

export const isObject = (value: unknown): value is { readonly [field: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isCall = (value: Json): value is { tool: string; arguments?: Json } =>
  isObject(value) && typeof value['tool'] === 'string' && Object.keys(value).every((key) => CALL.has(key));

const CALL: ReadonlySet<string> = new Set(['tool', 'arguments']);
