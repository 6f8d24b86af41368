import { z } from 'zod';
import type { CodingEvent } from '../coding-event.ts';
import { told, toldInLine, toldPaths } from '../coding-text.ts';
import { MAX_ENTRIES } from './plan.ts';
import { rateLimitOf } from './rate-limit.ts';
import { lineKind, readTyped, type StreamReader } from './stream-reader.ts';

const Started = z.looseObject({ thread_id: z.string().min(1) });
const Turn = z.looseObject({
  usage: z.looseObject({
    input_tokens: z.int().nonnegative(),
    output_tokens: z.int().nonnegative(),
  }),
});
const Failure = z.looseObject({ error: z.looseObject({ message: z.string() }) });
const Fault = z.looseObject({ message: z.string() });
const Item = z.looseObject({ item: z.looseObject({ id: z.string(), type: z.string() }) });
type Item = z.infer<typeof Item>['item'];

const Message = z.looseObject({ text: z.string() });
const Command = z.looseObject({
  command: z.string(),
  status: z.string().optional(),
  exit_code: z.int().nullish(),
});
const Change = z.looseObject({
  changes: z.array(z.looseObject({ path: z.string(), kind: z.string() })),
  status: z.string().optional(),
});
const McpCall = z.looseObject({ server: z.string(), tool: z.string(), status: z.string().optional() });
const Search = z.looseObject({ query: z.string() });
const Todos = z.looseObject({ items: z.array(z.looseObject({ text: z.string(), completed: z.boolean() })) });

/** Reads what `codex exec --json` prints. `now` in Unix milliseconds. */
export function codexStream(now: () => number): StreamReader {
  /** Whether the start of the last tool was told: a change of files may be told when it is over only. */
  let lastStarted: string | undefined;
  const itemEvents = (item: Item, isOver: boolean): readonly CodingEvent[] => {
    const saying = sayingOf(item, isOver);
    if (saying !== undefined) return saying;
    const tool = toolOf(item);
    if (tool === undefined) return [];
    const toolId = told(item.id);
    const start: CodingEvent = {
      type: 'tool.started',
      toolId,
      kind: tool.kind,
      title: tool.title,
      paths: tool.paths,
    };
    const isNew = lastStarted !== toolId;
    lastStarted = toolId;
    if (!isOver) return isNew ? [start] : [];
    return [
      ...(isNew ? [start] : []),
      ...(tool.isDeclined
        ? [{ type: 'permission.answered' as const, kind: tool.kind, title: tool.title, isAllowed: false }]
        : []),
      { type: 'tool.ended', toolId, isError: tool.isError },
    ];
  };
  const kinds = {
    'thread.started': lineKind(Started, ({ thread_id }) => [
      { type: 'session.started', sessionId: told(thread_id) },
    ]),
    'item.started': lineKind(Item, ({ item }) => itemEvents(item, false)),
    'item.updated': lineKind(Item, ({ item }) => itemEvents(item, false)),
    'item.completed': lineKind(Item, ({ item }) => itemEvents(item, true)),
    'turn.completed': lineKind(
      Turn,
      ({ usage: { input_tokens: inputTokens, output_tokens: outputTokens } }) => [
        { type: 'usage', usage: { inputTokens, outputTokens } },
        { type: 'ended', isError: false, reason: 'turn.completed' },
      ],
    ),
    'turn.failed': lineKind(Failure, ({ error: { message } }) => [
      ...rateLimitOf(message, now(), true),
      { type: 'ended', isError: true, reason: toldInLine(message) },
    ]),
    // It tries again by itself after one of these.
    error: lineKind(Fault, ({ message }) => rateLimitOf(message, now(), false)),
  };
  return { read: (line) => readTyped(line, kinds), end: () => [] };
}

function sayingOf(item: Item, isOver: boolean): readonly CodingEvent[] | undefined {
  if (item.type === 'agent_message') {
    const { data } = Message.safeParse(item);
    return isOver && data !== undefined ? [{ type: 'said', text: told(data.text) }] : [];
  }
  if (item.type === 'todo_list') {
    const { data } = Todos.safeParse(item);
    return data === undefined
      ? []
      : [{ type: 'planned', entries: data.items.slice(0, MAX_ENTRIES).map(entryOf) }];
  }
  return undefined;
}

const entryOf = ({ text, completed }: { readonly text: string; readonly completed: boolean }) => ({
  text: toldInLine(text),
  status: completed ? ('done' as const) : ('open' as const),
});

interface Tool {
  readonly kind: 'edit' | 'delete' | 'execute' | 'fetch' | 'other';
  readonly title: string;
  readonly paths: string[];
  readonly isError: boolean;
  readonly isDeclined?: boolean;
}

const TOOLS: Readonly<Record<string, (item: Item) => Tool | undefined>> = {
  command_execution: (item) => {
    const { data } = Command.safeParse(item);
    if (data === undefined) return undefined;
    const isDeclined = data.status === 'declined';
    const isError = isDeclined || data.status === 'failed' || (data.exit_code ?? 0) !== 0;
    return { kind: 'execute', title: toldInLine(data.command), paths: [], isError, isDeclined };
  },
  file_change: (item) => {
    const { data } = Change.safeParse(item);
    if (data === undefined) return undefined;
    const kinds = new Set(data.changes.map(({ kind }) => kind));
    const kind = kinds.size === 1 && kinds.has('delete') ? 'delete' : 'edit';
    const paths = toldPaths(data.changes.map(({ path }) => path));
    return {
      kind,
      title: toldInLine(`${kind} ${paths.join(', ')}`),
      paths,
      isError: data.status === 'failed',
    };
  },
  mcp_tool_call: (item) => {
    const { data } = McpCall.safeParse(item);
    if (data === undefined) return undefined;
    const title = toldInLine(`${data.server}.${data.tool}`);
    return { kind: 'other', title, paths: [], isError: data.status === 'failed' };
  },
  web_search: (item) => {
    const { data } = Search.safeParse(item);
    return data && { kind: 'fetch', title: toldInLine(data.query), paths: [], isError: false };
  },
};

const toolOf = (item: Item): Tool | undefined =>
  Object.hasOwn(TOOLS, item.type) ? TOOLS[item.type]?.(item) : undefined;
