import { z } from 'zod';
import type { Principal } from '../../../runtime/protocol/principal.ts';
import type { Tool, ToolAnnotations } from '../../../runtime/protocol/tool.ts';

/** Something that agents offer, as `visible` is asked about it. `name` is the full name of a tool or prompt, or a URI. */
export interface Offered {
  readonly kind: 'tool' | 'resource' | 'template' | 'prompt';
  readonly name: string;
  readonly agentId: string;
  readonly annotations?: ToolAnnotations;
}

/** What a custom name is made of: the id of an agent, and `id` of its capability or prompt. */
export interface NamedOffer {
  readonly agentId: string;
  readonly id: string;
}

/**
 * Which calls of a tool become tasks.
 *
 * - `never`     none; the call is answered with the result.
 * - `asked`     calls of 2025-11-25 that ask for a task.
 * - `preferred` also calls of 2026-07-28 whose client has declared tasks.
 * - `always`    all; a client without tasks is refused.
 * - `answered`  as `always`, but only once the handler has got all inputs that it asks for.
 */
export const TASK_MODES = ['never', 'asked', 'preferred', 'always', 'answered'] as const;
export type TaskMode = (typeof TASK_MODES)[number];

const isFunction = (value: unknown): boolean => typeof value === 'function';
const given = <Type>(expected: string) => z.custom<Type>(isFunction, expected);

const MINUTE = 60_000;

/**
 * How a team is served over MCP.
 *
 * - `names`        names of tools and prompts in lists: `agent.tool`, or `portable` for `agent__tool` of at most 64
 *                  characters, or by a function. Callers may use any of the three. @default 'agent.tool'
 * - `searchAbove`  with more tools than this, lists show `search_tools` and `call_tool` instead. @default 50
 * - `visible`      whether a caller sees an offer. @default everybody sees everything
 * - `readOnly`     whether a caller may call only tools that change nothing. @default false
 * - `scopes`       roles that a caller needs: `use` for everything, `of` for a tool. @default none
 * - `authorizationServers` URLs where callers get tokens, published as protected resource metadata (RFC 9728). @default none
 *                          is published
 * - `tasks`        which calls become tasks. @default 'asked'
 * - `instructions` text for the model of the client.
 * - `pageSize`     items on a page of a list. @default 100
 * - `callMs`       longest time of a call. @default 5 minutes
 * - `maxSessions`  sessions at a time, of clients before 2026-07-28. @default 1,000
 * - `maxSessionsPerCaller` sessions of one caller; anonymous callers count by address. @default 100
 * - `sessionIdleMs` ends a session that is unused for this long. @default 30 minutes
 * - `maxSubscriptions` open streams of changes. @default 1,024
 * - `keepAliveMs`  interval of keep-alives on a stream. @default 15 seconds
 * - `stateKey`     key that signs `requestState`: at least 32 characters, the same in all processes that serve one client.
 *                  @default a random one for this process
 */
export const McpOptions = z.strictObject({
  names: z
    .union([z.enum(['agent.tool', 'portable']), given<(offer: NamedOffer) => string>('a function')], {
      error: 'agent.tool, portable or a function',
    })
    .default('agent.tool'),
  searchAbove: z.int().nonnegative().default(50),
  visible: given<(principal: Principal, offered: Offered) => boolean>('a function').optional(),
  readOnly: z
    .union([z.boolean(), given<(principal: Principal) => boolean>('a function')], {
      error: 'true, false or a function',
    })
    .default(false),
  scopes: z
    .strictObject({
      use: z.array(z.string().min(1)).default([]),
      of: given<(tool: Tool) => readonly string[]>('a function').optional(),
    })
    .default({ use: [] }),
  authorizationServers: z.array(z.url()).default([]),
  tasks: z
    .union([z.enum(TASK_MODES), given<(tool: Tool) => TaskMode>('a function')], {
      error: `${TASK_MODES.join(', ')} or a function`,
    })
    .default('asked'),
  instructions: z.string().min(1).optional(),
  pageSize: z.int().positive().default(100),
  callMs: z
    .number()
    .positive()
    .default(5 * MINUTE),
  maxSessions: z.int().positive().default(1_000),
  maxSessionsPerCaller: z.int().positive().default(100),
  sessionIdleMs: z
    .number()
    .positive()
    .default(30 * MINUTE),
  maxSubscriptions: z.int().positive().default(1_024),
  keepAliveMs: z.number().positive().default(15_000),
  stateKey: z.string().min(32).optional(),
});
export type McpOptions = z.input<typeof McpOptions>;
export type ParsedMcpOptions = z.output<typeof McpOptions>;
