import type { AuthProvider, OAuthClientProvider } from '@modelcontextprotocol/client';
import { z } from 'zod';
import { Milliseconds } from '../../../runtime/protocol/milliseconds.ts';
import type { AskPerson, AskModel, Root } from './server-requests.ts';

const isFunction = (value: unknown): boolean => typeof value === 'function';

const isRevision = (value: unknown): boolean =>
  typeof value === 'string' && /^(auto|legacy|\d{4}-\d\d-\d\d)$/.test(value);

const isHttp = (value: unknown): boolean =>
  (typeof value === 'string' || value instanceof URL) && /^https?:$/.test(URL.parse(value)?.protocol ?? '');

/**
 * Checks what the SDK tells the two kinds by. Without it the first request would fail, with an error that names no option.
 */
const isAuth = (value: unknown): boolean => {
  const given = (typeof value === 'object' ? value : undefined) as Record<string, unknown> | null | undefined;
  return isFunction(given?.['token']) || isFunction(given?.['tokens']);
};

/**
 * Authenticates to an MCP server over HTTP: `{ token }`, or an OAuth client of the SDK. `authorizationResponse` is for a
 * client that sends the user to a page: it resolves to the query of the redirect that the page ends with.
 */
export type McpAuth = (AuthProvider | OAuthClientProvider) & {
  readonly authorizationResponse?: (signal: AbortSignal) => Promise<URLSearchParams>;
};

const Bytes = z.int().positive();
const Text = z.string().min(1);

const Shape = z.strictObject({
  command: Text.optional(),
  args: z.array(z.string()).readonly().optional(),
  env: z.record(Text, z.string()).optional(),
  cwd: Text.optional(),
  url: z.custom<string | URL>(isHttp, 'a URL of http or https').optional(),
  headers: z.record(Text, z.string()).optional(),
  auth: z.custom<McpAuth>(isAuth, 'an OAuth client, or { token }').optional(),
  transport: z.enum(['auto', 'streamable-http', 'sse']).optional(),
  revision: z.custom<string>(isRevision, 'auto, legacy, or a revision such as 2025-11-25').default('auto'),
  connectTimeoutMs: Milliseconds.default(20_000),
  silenceMs: Milliseconds.default(60_000),
  longestCallMs: Milliseconds.default(60 * 60_000),
  maxMessageBytes: Bytes.default(4 * 1024 * 1024),
  maxUnaskedBytes: Bytes.optional(),
  maxOffered: z.int().positive().default(1_000),
  stopGraceMs: z.number().nonnegative().max(60_000).optional(),
  elicit: z.custom<AskPerson>(isFunction, 'a function').optional(),
  sample: z.custom<AskModel>(isFunction, 'a function').optional(),
  roots: z.custom<() => readonly Root[] | Promise<readonly Root[]>>(isFunction, 'a function').optional(),
});

/** Options for one kind of server only. They have no defaults in the schema, so that a wrong one is noticed. */
const OF_PROGRAM = ['args', 'env', 'cwd', 'maxUnaskedBytes', 'stopGraceMs'] as const;
const OF_SITE = ['headers', 'auth', 'transport'] as const;

/**
 * An MCP server and how to connect to it: `command` for a program, `url` for a server over HTTP. An option of the one is
 * refused for the other.
 *
 * - `command`, `args`, `cwd` the program. It is started and ended with its agent.
 * - `env`              environment variables, beside PATH, HOME, LOGNAME, SHELL, TERM and USER. No others are inherited.
 * - `url`, `headers`   the server over HTTP.
 * - `auth`             authenticates to `url`.
 * - `transport`        over HTTP: `streamable-http`, `sse`, or `auto` for the first that the server has. @default 'auto'
 * - `revision`         a revision by date; `legacy` for 2025-11-25 and before; or `auto` for the newest that both know.
 *                      @default 'auto'
 * - `connectTimeoutMs` longest time to connect and read the lists. @default 20,000
 * - `silenceMs`        longest time without an answer or progress of a call. @default 60,000
 * - `longestCallMs`    longest time of a call, despite progress. A caller's deadline may be earlier. @default 3,600,000
 * - `maxMessageBytes`  largest message in either direction. @default 4 MiB
 * - `maxUnaskedBytes`  bytes that a program may send between two answers before it is ended for flooding. @default 8 MiB
 * - `maxOffered`       tools, resources, templates and prompts that are read, of each. @default 1,000
 * - `stopGraceMs`      time for a program to end after its input has ended, and again after SIGTERM. @default 1,000
 * - `elicit`, `sample`, `roots` answer the server's requests. @default it is told that nobody does
 */
export const McpTarget = Shape.superRefine((given, ctx) => {
  const refuse = (field: keyof typeof given, error: string): void =>
    ctx.addIssue({ code: 'custom', path: [field], message: error, input: given[field] });
  const { command, url } = given;
  if ((command === undefined) === (url === undefined)) return refuse('command', 'either a command or a url');
  const foreign = url === undefined ? OF_SITE : OF_PROGRAM;
  const wanted = url === undefined ? 'url' : 'command';
  for (const field of foreign)
    if (given[field] !== undefined) refuse(field, `nothing where there is no ${wanted}`);
}).transform(
  ({
    args = [],
    env = {},
    transport = 'auto',
    maxUnaskedBytes = 8 * 1024 * 1024,
    stopGraceMs = 1_000,
    ...rest
  }) => ({ ...rest, args, env, transport, maxUnaskedBytes, stopGraceMs }),
);
export type McpTarget = z.input<typeof McpTarget>;
export type McpTargetSettings = z.output<typeof McpTarget>;
