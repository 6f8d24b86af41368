import { z } from 'zod';
import type { Principal } from '../../../runtime/protocol/principal.ts';
import type { Tool, ToolAnnotations } from '../../../runtime/protocol/tool.ts';

/** Something that agents offer, for whoever decides who sees it. `name`: a tool's or prompt's full name, or a URI. */
export interface Offered {
  readonly kind: 'tool' | 'resource' | 'template' | 'prompt';
  readonly name: string;
  readonly agentId: string;
  readonly annotations?: ToolAnnotations;
}

/** What a name at the edge is made of: an agent's id, and that of its capability or prompt. */
export interface NamedOffer {
  readonly agentId: string;
  readonly id: string;
}

/**
 * Whether a call of a tool is a task.
 *
 * - `never`     it is answered.
 * - `asked`     a client that asks for a task gets one (2025-11-25); others get the answer.
 * - `preferred` also a client that can have tasks (2026-07-28) gets one; others get the answer.
 * - `always`    clients that can have none are refused.
 * - `answered`  as `always`, once its handler has been given all that it asks for.
 */
export const TASK_MODES = ['never', 'asked', 'preferred', 'always', 'answered'] as const;
export type TaskMode = (typeof TASK_MODES)[number];

const isFunction = (value: unknown): boolean => typeof value === 'function';
const given = <Type>(expected: string) => z.custom<Type>(isFunction, expected);

const MINUTE = 60_000;

/**
 * How MCP is served.
 *
 * - `names`        of tools and prompts: `agent.tool`, `portable` for `agent__tool` of at most 64 characters, or as a function
 *                  says; whoever calls may use any of the three. @default 'agent.tool'
 * - `searchAbove`  with more tools than this, those that list them see two that find and call the others. @default 50
 * - `visible`      who sees what. @default everybody everything
 * - `readOnly`     who may only call tools that change nothing. @default nobody
 * - `scopes`       roles that a caller needs: `use` for all of it, `of` for a tool. @default none
 * - `authorizationServers` where callers get tokens, for those who ask. @default nobody is told
 * - `tasks`        which calls are tasks. @default 'asked'
 * - `instructions` for the model of whoever connects.
 * - `pageSize`     how much of a list is told at a time. @default 100
 * - `callMs`       how long a call may take. @default 5 minutes
 * - `maxSessions`, `sessionIdleMs` of clients that speak an older revision: how many at a time, and after what silence they
 *                  are over. @default 1,000, 30 minutes
 * - `maxSessionsPerCaller` how many of them one caller has at a time; those who prove nothing count by their address. @default 100
 * - `maxSubscriptions` open streams of changes. @default 1,024
 * - `keepAliveMs`  how often a stream shows that it lives. @default 15 seconds
 * - `stateKey`     signs what a client carries from one step of a call to the next: at least 32 characters, the same for all
 *                  processes that serve one client. @default one of this process alone
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
