import { z } from 'zod';
import { invalidOptions, invalidPayload } from './errors.ts';
import { parseOptions } from './parse-options.ts';
import { type PromptDescriptor, PromptMessage } from './tool.ts';

/** A text with placeholders, which is one message of the user, or messages with such texts. */
export type PromptText = string | readonly PromptMessage[];

type Arguments = Readonly<Record<string, string>>;

const PLACEHOLDER = /\{\{([^{}]*)\}\}/g;
/** Fields that are no text. */
const NO_TEXT = new Set(['type', 'role', 'mimeType', 'data', 'blob']);

/**
 * Throws INVALID_OPTIONS for a placeholder without an argument of its name, and for arguments that share a name. So no placeholder
 * is ever left in a prompt.
 */
export function checkPrompt(descriptor: PromptDescriptor, template: PromptText): readonly PromptMessage[] {
  const names = argumentNames(descriptor);
  const messages = messagesOf(template, `the template of "${descriptor.name}"`);
  eachText(messages, (text) => {
    for (const [whole, name = ''] of text.matchAll(PLACEHOLDER)) {
      if (!names.has(name.trim()))
        throw invalidOptions(`the template of "${descriptor.name}"`, whole, placeholders(names));
    }
    return text;
  });
  return messages;
}

const placeholders = (names: ReadonlySet<string>): string =>
  names.size === 0
    ? 'no placeholder: the prompt has no arguments'
    : `placeholders of its arguments: ${[...names].map((name) => `{{${name}}}`).join(', ')}`;

/** The names of a prompt's arguments. Throws INVALID_OPTIONS for one that no placeholder can have, or that is there twice. */
export function argumentNames({ name: prompt, arguments: all = [] }: PromptDescriptor): ReadonlySet<string> {
  const names = new Set<string>();
  for (const [at, { name }] of all.entries()) {
    const field = `prompt "${prompt}".arguments[${at}].name`;
    if (/[{}]/.test(name) || name !== name.trim())
      throw invalidOptions(field, name, 'a name without braces, and without white space around it');
    if (names.has(name)) throw invalidOptions(field, name, 'a name that no other argument has');
    names.add(name);
  }
  return names;
}

/** Throws INVALID_PAYLOAD naming an argument that is missing, or that the prompt does not have. */
export function checkArguments(descriptor: PromptDescriptor, given: Arguments): void {
  const { name: prompt, arguments: all = [] } = descriptor;
  const missing = all.find(({ name, required }) => required === true && !Object.hasOwn(given, name));
  if (missing !== undefined) throw invalidPayload(prompt, `${missing.name}: required, and not given`);
  const known = new Set(all.map(({ name }) => name));
  const unknown = Object.keys(given).find((name) => !known.has(name));
  if (unknown !== undefined) throw invalidPayload(prompt, `${unknown}: the prompt has no such argument`);
}

/** The messages with the arguments filled in; a missing one is empty. The text of an argument is not a template itself. */
export const filled = (messages: readonly PromptMessage[], given: Arguments): readonly PromptMessage[] =>
  eachText(messages, (text) =>
    text.replace(PLACEHOLDER, (_whole, name: string) => {
      const key = name.trim();
      return Object.hasOwn(given, key) ? (given[key] as string) : '';
    }),
  );

/** The messages of a template: a text is one message of the user. */
export function messagesOf(template: PromptText, field: string): readonly PromptMessage[] {
  if (typeof template === 'string') return [{ role: 'user', content: { type: 'text', text: template } }];
  return parseOptions(z.array(PromptMessage), template, field);
}

/** A copy with every text in it, however deep, replaced. */
function eachText<Value>(value: Value, replace: (text: string) => string): Value {
  if (typeof value === 'string') return replace(value) as Value;
  if (Array.isArray(value)) return value.map((item: unknown) => eachText(item, replace)) as Value;
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).map(([key, field]) => [
    key,
    NO_TEXT.has(key) ? field : eachText(field as unknown, replace),
  ]);
  return Object.fromEntries(fields) as Value;
}
