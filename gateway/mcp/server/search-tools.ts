import { invalidParams } from './mcp-errors.ts';
import { isObject } from '../../http/json-text.ts';
import type { Result } from './json-shapes.ts';
import type { ServedTool } from './served-tool.ts';

export const SEARCH_NAME = 'search_tools';
export const CALL_NAME = 'call_tool';

const DEFAULT_LIMIT = 10;
const MOST_FOUND = 50;

/** The two tools that are listed instead of too many: every listed tool costs tokens in each conversation. */
export const SEARCH_TOOLS: readonly Readonly<Record<string, unknown>>[] = [
  {
    name: SEARCH_NAME,
    title: 'Find tools',
    description:
      'Finds tools by words of their names and descriptions. Answers with name, description and input schema of each, the best first; call one by call_tool, or under its name.',
    inputSchema: {
      type: 'object',
      properties: {
        query: { type: 'string', description: 'Words to look for; none finds any tool' },
        limit: { type: 'integer', minimum: 1, maximum: MOST_FOUND, default: DEFAULT_LIMIT },
      },
      required: ['query'],
    },
    annotations: { readOnlyHint: true, openWorldHint: false },
  },
  {
    name: CALL_NAME,
    title: 'Call a tool',
    description: 'Calls a tool that search_tools has found.',
    inputSchema: {
      type: 'object',
      properties: {
        name: { type: 'string', description: 'As search_tools has named it' },
        arguments: { type: 'object', description: "As the tool's input schema wants them" },
      },
      required: ['name'],
    },
    annotations: { readOnlyHint: false, destructiveHint: true, openWorldHint: true },
  },
];

/** The result of `search_tools`. Throws INVALID_PARAMS for wrong arguments. */
export function searchResult(among: readonly ServedTool[], args: Readonly<Record<string, unknown>>): Result {
  const { query, limit = DEFAULT_LIMIT } = args;
  if (typeof query !== 'string') throw invalidParams('query: expected words to look for');
  if (!Number.isInteger(limit) || (limit as number) < 1 || (limit as number) > MOST_FOUND)
    throw invalidParams(`limit: expected a number from 1 to ${MOST_FOUND}`);
  const found = ranked(among, query).slice(0, limit as number);
  const tools = found.map(({ modern: { name, description, inputSchema, annotations } }) => ({
    name,
    description,
    inputSchema,
    annotations,
  }));
  const structuredContent = { tools, total: among.length };
  return { content: [{ type: 'text', text: JSON.stringify(structuredContent) }], structuredContent };
}

/**
 * Tools in which a word occurs, the best first: the name counts more than the title, and the title more than the description.
 */
function ranked(tools: readonly ServedTool[], query: string): readonly ServedTool[] {
  const words = query
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');
  if (words.length === 0) return tools;
  const scored = tools.map((served) => ({ served, score: scoreOf(served, words) }));
  return scored
    .filter(({ score }) => score > 0)
    .sort((one, other) => other.score - one.score)
    .map(({ served }) => served);
}

function scoreOf({ name, tool }: ServedTool, words: readonly string[]): number {
  const [names, title, description] = [`${name} ${tool.name}`, tool.title, tool.description].map((text) =>
    text.toLowerCase(),
  ) as [string, string, string];
  const of = (word: string): number =>
    (names.includes(word) ? 4 : 0) + (title.includes(word) ? 2 : 0) + (description.includes(word) ? 1 : 0);
  return words.reduce((sum, word) => sum + of(word), 0);
}

/** Reads the arguments of `call_tool`. Throws INVALID_PARAMS for wrong ones. */
export function calledIn(args: Readonly<Record<string, unknown>>): {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
} {
  const { name, arguments: given = {} } = args;
  if (typeof name !== 'string') throw invalidParams('name: expected the name of a tool');
  if (!isObject(given)) throw invalidParams('arguments: expected an object');
  return { name, args: given };
}
