import type { AuthProvider, OAuthClientProvider } from '@modelcontextprotocol/client';
import { z } from 'zod';
import { Milliseconds } from '../../../runtime/protocol/milliseconds.ts';
import type { AskPerson, AskModel, Root } from './server-requests.ts';

const isFunction = (value: unknown): boolean => typeof value === 'function';

const isRevision = (value: unknown): boolean =>
  typeof value === 'string' && /^(auto|legacy|\d{4}-\d\d-\d\d)$/.test(value);

const isHttp = (value: unknown): boolean =>
  (typeof value === 'string' || value instanceof URL) && /^https?:$/.test(URL.parse(value)?.protocol ?? '');

/** The SDK tells the two by the same: without either it fails at the first request, in words that name no option. */
const isAuth = (value: unknown): boolean => {
  const given = (typeof value === 'object' ? value : undefined) as Record<string, unknown> | null | undefined;
  return isFunction(given?.['token']) || isFunction(given?.['tokens']);
};

/**
 * Who proves to an MCP server over HTTP who calls: `{ token }` alone, or an OAuth client as the SDK has them. One that sends a
 * person to a page is asked by `authorizationResponse` for what that page has sent back: the parameters of the redirect.
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

/** What is to be said of a program alone, and of a server over HTTP alone: their defaults come when it is known which it is. */
const OF_PROGRAM = ['args', 'env', 'cwd', 'maxUnaskedBytes', 'stopGraceMs'] as const;
const OF_SITE = ['headers', 'auth', 'transport'] as const;

/**
 * Which MCP server, and how it is spoken to. What belongs to a program, or to a server over HTTP, is refused of the other.
 *
 * - `command`, `args`, `cwd` of one that is a program: it has an end of its own whenever its agent has.
 * - `env`              what it is told beside PATH, HOME, LOGNAME, SHELL, TERM and USER; it has nothing else of this process.
 * - `url`, `headers`   of one that is reached over HTTP.
 * - `auth`             who proves there who calls.
 * - `transport`        over HTTP. @default auto: streamable, and the older SSE where the server has no other
 * - `revision`         `legacy` for 2025-11-25 and before; or one of them by name. @default auto: the newest that both know
 * - `connectTimeoutMs` until it is there, with its lists. @default 20,000
 * - `silenceMs`        how long it may say nothing of a call, neither an answer nor progress. @default 60,000
 * - `longestCallMs`    of a call in all, whatever progress it makes; its caller's deadline may be earlier. @default 3,600,000
 * - `maxMessageBytes`  of one message, to it or from it. @default 4 MiB
 * - `maxUnaskedBytes`  that a program may say between two answers before it counts as flooding. @default 8 MiB
 * - `maxOffered`       tools, resources, templates and prompts that are taken from it, of each. @default 1,000
 * - `stopGraceMs`      how long its process may take to end when its input has, and then again after SIGTERM. @default 1,000
 * - `elicit`, `sample`, `roots` answer what it asks of whoever calls it. @default it is told that nobody does
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
