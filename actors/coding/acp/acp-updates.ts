import type { CodingEvent, ToolKind } from '../coding-event.ts';
import { told, toldInLine, toldPaths } from '../coding-text.ts';
import { unreadable } from '../streams/stream-reader.ts';
import { AcpNotice, type AcpTool, AcpUpdate } from './acp-message.ts';
import type { AskedPermission } from './acp-permission.ts';

/** The most tools that are followed. */
const MAX_TOOLS = 5_000;
/** The most paths that are known of one tool. */
const MAX_PATHS = 2_000;
const PLAN_STATUS = { pending: 'open', in_progress: 'running', completed: 'done' } as const;
const ENDED: ReadonlySet<string | null | undefined> = new Set(['completed', 'failed']);
const READ: ReadonlySet<string> = new Set(AcpUpdate.options.map(({ shape }) => shape.sessionUpdate.value));

interface KnownTool {
  readonly kind: ToolKind;
  readonly title: string;
  readonly paths: readonly string[];
  readonly hasStarted: boolean;
  readonly hasEnded: boolean;
}

const NEW_TOOL: KnownTool = { kind: 'other', title: '', paths: [], hasStarted: false, hasEnded: false };

/**
 * Makes events of the updates of one session, once its turn has begun: what comes before is what a former attempt has told.
 * Pieces of a message are joined to one event.
 */
export class AcpUpdates {
  readonly #tools = new Map<string, KnownTool>();
  #session: string | undefined;
  #hasBegun = false;
  #message = '';
  #messageId: string | undefined;
  /** What the session had cost before. */
  #costBefore = 0;

  /** Says of which session updates are read. */
  follow(session: string): void {
    this.#session = session;
  }

  begin(): void {
    this.#hasBegun = true;
  }

  read(params: unknown): readonly CodingEvent[] {
    const notice = AcpNotice.safeParse(params);
    if (!notice.success) return [unreadable(textOf(params))];
    const { sessionId, update } = notice.data;
    if (sessionId !== this.#session || !READ.has(update.sessionUpdate)) return [];
    const parsed = AcpUpdate.safeParse(update);
    if (!parsed.success) return [unreadable(textOf(params))];
    return this.#hasBegun ? this.#eventsOf(parsed.data) : this.#before(parsed.data);
  }

  /** What a tool may be asked about, with all that was said of it: whoever names less now has still named it before. */
  asked(tool: AcpTool): AskedPermission & { readonly title: string } {
    const { kind, title, paths } = this.#known(tool);
    return { kind, title: toldInLine(title), paths };
  }

  /** What was said last, and not told yet. */
  end(): readonly CodingEvent[] {
    const text = this.#message;
    this.#message = '';
    return text.trim() === '' ? [] : [{ type: 'said', text }];
  }

  #before(update: AcpUpdate): readonly CodingEvent[] {
    if (update.sessionUpdate === 'usage_update') this.#costBefore = dollarsOf(update) ?? this.#costBefore;
    return [];
  }

  #eventsOf(update: AcpUpdate): readonly CodingEvent[] {
    switch (update.sessionUpdate) {
      case 'agent_message_chunk':
        return this.#said(update.content?.text ?? '', update.messageId ?? undefined);
      case 'plan':
        return [...this.end(), planned(update.entries)];
      case 'usage_update':
        return this.#used(dollarsOf(update));
      default:
        return [...this.end(), ...this.#tool(update)];
    }
  }

  #said(text: string, messageId: string | undefined): readonly CodingEvent[] {
    const before = messageId === this.#messageId ? [] : this.end();
    this.#messageId = messageId;
    this.#message = told(this.#message + text);
    return before;
  }

  /** What it has in its context at the time is no count of what was used, so that is not read. */
  #used(costUsd: number | undefined): readonly CodingEvent[] {
    if (costUsd === undefined) return [];
    return [{ type: 'usage', usage: { costUsd: Math.max(0, costUsd - this.#costBefore) } }];
  }

  #tool(tool: AcpTool): readonly CodingEvent[] {
    const toolId = tool.toolCallId;
    if (!this.#tools.has(toolId) && this.#tools.size >= MAX_TOOLS) return [];
    const known = this.#known(tool);
    const ends = ENDED.has(tool.status) && !known.hasEnded;
    this.#tools.set(toolId, { ...known, hasStarted: true, hasEnded: known.hasEnded || ends });
    return [
      ...(known.hasStarted ? [] : [started(toolId, known)]),
      ...(ends ? [{ type: 'tool.ended', toolId, isError: tool.status === 'failed' } as const] : []),
    ];
  }

  #known({ toolCallId, kind, title, locations, content }: AcpTool): KnownTool {
    const known = this.#tools.get(toolCallId) ?? NEW_TOOL;
    const named = [...(locations ?? []), ...(content ?? [])].flatMap((each) => each?.path ?? []);
    const paths = [...new Set([...known.paths, ...named])];
    return {
      ...known,
      // What is done to more files than can be looked at is not known.
      kind: paths.length > MAX_PATHS ? 'other' : (kind ?? known.kind),
      title: told(title ?? known.title),
      paths: paths.slice(0, MAX_PATHS + 1),
    };
  }
}

const started = (toolId: string, { kind, title, paths }: KnownTool): CodingEvent => ({
  type: 'tool.started',
  toolId,
  kind,
  title: toldInLine(title),
  paths: toldPaths(paths),
});

const planned = (entries: Extract<AcpUpdate, { sessionUpdate: 'plan' }>['entries']): CodingEvent => ({
  type: 'planned',
  entries: entries.map(({ content, status }) => ({ text: told(content), status: PLAN_STATUS[status] })),
});

const dollarsOf = ({ cost }: Extract<AcpUpdate, { sessionUpdate: 'usage_update' }>): number | undefined =>
  cost?.currency === 'USD' ? cost.amount : undefined;

const textOf = (params: unknown): string => JSON.stringify(params) ?? '';
