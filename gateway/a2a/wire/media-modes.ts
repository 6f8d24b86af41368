import type { AgentCard } from '../../../runtime/protocol/agent-card.ts';

export const JSON_MODE = 'application/json';
export const TEXT_MODE = 'text/plain';

/** In which media types a capability can be asked: as data always; as text where it takes one text. */
export const inputModesOf = (schema: unknown): readonly string[] =>
  isText(schema) || hasOneText(schema) ? [JSON_MODE, TEXT_MODE] : [JSON_MODE];

/** In which it answers: a text is sent as text, anything else as data; bytes may be of any type. */
export function outputModesOf(schema: unknown): readonly string[] {
  const { anyOf, oneOf, type } = fieldsOf(schema);
  const alternatives = [anyOf, oneOf].flatMap((list) => (Array.isArray(list) ? (list as unknown[]) : []));
  if (alternatives.length > 0) return [...new Set(alternatives.flatMap(outputModesOf))];
  if (isFile(schema)) return ['*/*'];
  if (type === 'string') return [TEXT_MODE];
  return isText(schema) ? [TEXT_MODE, JSON_MODE] : [JSON_MODE];
}

/** Every request asks for those of a card, which stays what it is. */
const answers = new WeakMap<AgentCard, readonly string[]>();

/** In which the agent may answer; of an agent that declares no capability nothing is known. */
export function answersOf(card: AgentCard): readonly string[] {
  const known = answers.get(card);
  if (known !== undefined) return known;
  const modes = [...new Set(card.capabilities.flatMap(({ outputSchema }) => outputModesOf(outputSchema)))];
  answers.set(card, modes);
  return modes;
}

type Fields = Readonly<Record<string, unknown>>;

const fieldsOf = (schema: unknown): Fields =>
  typeof schema === 'object' && schema !== null ? (schema as Fields) : {};

/** A text fits; also where nothing is said of what does. */
function isText(schema: unknown): boolean {
  const { type, anyOf, oneOf } = fieldsOf(schema);
  if (type !== undefined) return type === 'string' || (Array.isArray(type) && type.includes('string'));
  const alternatives = [anyOf, oneOf].flatMap((list) => (Array.isArray(list) ? (list as unknown[]) : []));
  return alternatives.length === 0 || alternatives.some(isText);
}

function hasOneText(schema: unknown): boolean {
  const { properties, required } = fieldsOf(schema);
  const fields = fieldsOf(properties);
  const names = Array.isArray(required) && required.length > 0 ? (required as string[]) : Object.keys(fields);
  const [only] = names;
  return names.length === 1 && only !== undefined && isText(fields[only]);
}

const isFile = (schema: unknown): boolean => {
  const fields = fieldsOf(fieldsOf(schema)['properties']);
  return 'bytes' in fields && 'mediaType' in fields;
};

/**
 * Whether some media type of `offered` is among those that are `accepted`. Either may have stars (`text/*`); parameters do not
 * count. No accepted type, or nothing known of what is offered, means anything.
 */
export function fitsAccepted(offered: readonly string[], accepted: readonly string[]): boolean {
  if (accepted.length === 0 || offered.length === 0) return true;
  return accepted.some((pattern) => offered.some((type) => matches(type, pattern)));
}

function matches(type: string, pattern: string): boolean {
  const [major, minor] = partsOf(type);
  const [wantedMajor, wantedMinor] = partsOf(pattern);
  const isSame = (one: string, other: string): boolean => one === '*' || other === '*' || one === other;
  return isSame(major, wantedMajor) && isSame(minor, wantedMinor);
}

function partsOf(type: string): readonly [string, string] {
  const [essence = ''] = type.split(';');
  const [major = '', minor = '*'] = essence.trim().toLowerCase().split('/');
  return [major, minor];
}
