import type { Readable, Writable } from 'node:stream';
import { z } from 'zod';
import type { FirewallHooks } from '../runtime/protocol/firewall.ts';
import { hasMethod, parseOptions } from '../runtime/protocol/parse-options.ts';
import { Principal } from '../runtime/protocol/principal.ts';
import { isObject } from './http/json-text.ts';
import type { McpOptions } from './mcp/server/mcp-options.ts';
import type { TeamIdentity } from './team/served-team.ts';
import type { Trusts } from './team/caller-rights.ts';

/**
 * How a system is served to one program, over a pair of streams.
 *
 * - `input`, `output` messages of MCP, a line each. @default standard input and output of the process, which then must be
 *                     written by nobody else
 * - `principal`       who is at the other end. @default the user of this machine, of tier 3
 * - `trusts`          whether its messages are trusted as those from here; else they are tainted by `mcp:` and its id. What a program
 *                     says is what its model or its pages have told it. @default no
 * - `firewall`        decides which tools whoever is at the other end may use, what goes out of what agents answer, and
 *                     attests that. It stands before all that serve the system. @default the rules alone
 * - `expose`          which agents. @default all, also those that are started later
 * - `mcp`             how MCP is served.
 * - `onFault`         hears of errors that the client is not told of.
 */
export interface StdioOptions extends Partial<Pick<TeamIdentity, 'name' | 'description' | 'version'>> {
  readonly input?: Readable;
  readonly output?: Writable;
  readonly principal?: Principal;
  readonly trusts?: Trusts;
  readonly firewall?: FirewallHooks;
  readonly expose?: readonly string[];
  readonly mcp?: McpOptions;
  readonly onFault?: (error: unknown) => void;
}

const text = z.string().min(1).optional();
const StdioFields = z.strictObject({
  input: z.custom<Readable>(hasMethod('read'), 'a stream to read from').optional(),
  output: z.custom<Writable>(hasMethod('write'), 'a stream to write to').optional(),
  principal: Principal.optional(),
  trusts: z.custom<Trusts>((value) => typeof value === 'function', 'a function').optional(),
  firewall: z.custom<FirewallHooks>(isObject, 'the hooks of a firewall').optional(),
  name: text,
  description: text,
  version: text,
  expose: z.array(z.string()).optional(),
  // Looked at where MCP is opened, whose package need not be there before.
  mcp: z.custom<McpOptions>().optional(),
  onFault: z
    .custom<(error: unknown) => void>((value) => typeof value === 'function', 'a function')
    .optional(),
});

/** The options if they are such. Throws INVALID_OPTIONS naming field and value. */
export const parseStdioOptions = (options: StdioOptions): z.output<typeof StdioFields> =>
  parseOptions(StdioFields, options, '');

/** A system that is served to one program. `ended` resolves when that has gone. */
export interface StdioServing extends AsyncDisposable {
  readonly ended: Promise<void>;
  /** Ends the connection; what is in hand is aborted. The system goes on. */
  close(): Promise<void>;
}

/** A program that is talked to over streams proves nothing about who has told it what it says. */
export const trustsNobody: Trusts = () => false;

/** Whoever starts the process, and talks to it over its streams. */
export const LOCAL_USER: Principal = {
  id: 'stdio',
  kind: 'user',
  roles: [],
  tier: 3,
  trust: { score: 1, source: 'this machine' },
};
