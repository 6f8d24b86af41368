import { z } from 'zod';
import type { AdmissionRule, Authenticator } from '../runtime/protocol/admission.ts';
import type { Approver } from '../runtime/protocol/approval.ts';
import { invalidOptions } from '../runtime/protocol/errors.ts';
import type { CardProvider, FirewallHooks } from '../runtime/protocol/firewall.ts';
import { hasMethod, parseOptions } from '../runtime/protocol/parse-options.ts';
import type { Binding } from './binding.ts';
import type { GatewayLimits } from './http/gateway-options.ts';
import type { ServedRoute } from './http/gateway-part.ts';
import type { TlsOptions } from './http/tls-material.ts';
import { isObject } from './http/json-text.ts';
import { McpOptions } from './mcp/server/mcp-options.ts';
import { A2AOptions, schemesOf, type ServedA2AOptions } from './open-a2a.ts';
import type { ServedTeam } from './team/served-team.ts';
import { WatchOptions } from './watch/watch-options.ts';
import type { Trusts } from './team/caller-rights.ts';

const Identity = {
  name: z.string().min(1).default('Orrery'),
  description: z.string().min(1).default('A supervised team of agents'),
  version: z.string().min(1).default('1.0.0'),
  provider: z.strictObject({ organization: z.string().min(1), url: z.url() }).optional(),
  documentationUrl: z.url().optional(),
};

/** A name or address as it stands in a URL, a port with it or not. */
const HOST = /^[^\s/?#@]+$/;

const isFunction = (value: unknown): boolean => typeof value === 'function';
const given = <Type>(isIt: (value: unknown) => boolean, expected: string) =>
  z.custom<Type>((value) => isIt(value), expected);

/**
 * How a system is served.
 *
 * - `name`, `description`, `version`, `provider`, `documentationUrl` of the system, for its card.
 * - `expose`         which agents. @default all, also those that are started later
 * - `entry`          the agent that is meant when a caller names none. @default none
 * - `authenticators` how callers prove who they are, asked in this order.
 * - `anonymous`      whether callers that prove nothing are let in. @default only where there are no authenticators, and on
 *                    an address of this machine alone
 * - `rules`          asked in this order about whoever comes.
 * - `limits`         what is taken at most.
 * - `hosts`          names that it is reached under, beside those of this machine and plain addresses; 'any' leaves that to
 *                    whoever stands before it.
 * - `origins`        of whose pages browsers may use it.
 * - `publicUrl`      under which callers reach it, where that is not what their requests say: behind a proxy.
 * - `metrics`        who may read `/metrics`, and the details of `/readyz`: everybody (`open`), or whoever has proved who
 *                    they are (`admitted`). @default `admitted` where there are authenticators, and others than this machine
 *                    can reach it
 * - `approver`       decides what agents want to have approved. @default whoever owns the task is asked
 * - `firewall`       decides which tools those outside may use, what goes out of what agents answer, and attests that. It
 *                    stands before all that serve the system. @default the rules alone
 * - `cardProvider`   gives the cards that are shown in place of the agents' own. @default their own
 * - `trusts`         whose messages are trusted as those from here; those of others are tainted, by `a2a:` or `mcp:` and their id.
 *                    @default users and services that have proved who they are; agents never
 * - `a2a`            how A2A is served; false: not at all.
 * - `mcp`            how MCP is served; false: not at all. @default as its options say, where its packages are installed
 * - `bindings`       protocols of others that are served beside A2A, such as `xprBinding(...)` of `orrery/xpr`.
 * - `watch`          how operators can watch it, with the visualiser at `/`; false: not at all. @default false
 * - `onFault`        hears of errors that no caller is told of. @default the first is a warning of the process
 */
const GatewayFields = {
  ...Identity,
  expose: z.array(z.string()).optional(),
  entry: z.string().optional(),
  authenticators: z
    .array(given<Authenticator>(hasMethod('authenticate'), 'an authenticator, such as apiKeys(...)'))
    .default([]),
  anonymous: z.boolean().optional(),
  rules: z
    .array(given<AdmissionRule>(hasMethod('admit'), 'a rule of admission, such as slidingWindow(...)'))
    .default([]),
  limits: z.custom<GatewayLimits>().optional(),
  hosts: z
    .union(
      [z.array(z.string().regex(HOST, 'a name such as agents.example')), z.literal('any')],
      'names, or "any"',
    )
    .default([]),
  origins: z.array(z.string()).default([]),
  publicUrl: z.string().optional(),
  metrics: z.enum(['open', 'admitted']).optional(),
  approver: given<Approver>(isFunction, 'a function').optional(),
  firewall: z.custom<FirewallHooks>(isObject, 'the hooks of a firewall').optional(),
  cardProvider: given<CardProvider>(isFunction, 'a function').optional(),
  trusts: given<Trusts>(isFunction, 'a function').optional(),
  a2a: z.union([z.literal(false), A2AOptions], 'options, or false').default(A2AOptions.parse({})),
  mcp: z.union([z.literal(false), McpOptions], { error: 'options, or false' }).optional(),
  bindings: z.array(given<Binding>(hasMethod('open'), 'a binding, such as xprBinding(...)')).default([]),
  watch: z.union([z.literal(false), WatchOptions], { error: 'options, or false' }).default(false),
  onFault: given<(fault: ServeFault) => void>(isFunction, 'a function').optional(),
};

/** An error, and the request that it belongs to. */
export interface ServeFault {
  readonly error: unknown;
  readonly requestId: string;
  readonly method: string;
  readonly path: string;
}

const EdgeOptions = z.strictObject(GatewayFields);
export type EdgeOptions = z.input<typeof EdgeOptions>;

/**
 * Where a gateway listens.
 *
 * - `host` any address that others can reach needs an authenticator. @default '127.0.0.1'
 * - `port` 0 takes one that is free. @default 0
 * - `tls`  key and certificate as PEM text.
 * - `grpc` serves A2A over gRPC as well, on a port of its own; what is left out is as above, but the port. @default not
 */
export interface ListeningOptions {
  readonly host?: string;
  readonly port?: number;
  readonly tls?: TlsOptions;
  readonly grpc?: Omit<ListeningOptions, 'grpc'> & {
    readonly maxMessageBytes?: number;
    readonly maxKeys?: number;
    readonly maxElements?: number;
    readonly maxStreams?: number;
    readonly maxConnections?: number;
    readonly messageTimeoutMs?: number;
    /** As which cards name it. @default where it listens */
    readonly publicAddress?: string;
  };
}

/** Names alone: what they hold is looked at where it is used. */
const GrpcNames = z.strictObject({
  host: z.unknown().optional(),
  port: z.unknown().optional(),
  tls: z.unknown().optional(),
  maxMessageBytes: z.unknown().optional(),
  maxKeys: z.unknown().optional(),
  maxElements: z.unknown().optional(),
  maxStreams: z.unknown().optional(),
  maxConnections: z.unknown().optional(),
  messageTimeoutMs: z.unknown().optional(),
  publicAddress: z.string().min(1).optional(),
});
const TaskNames = z.strictObject({ limits: z.unknown().optional(), turnMs: z.unknown().optional() });

/** Throws INVALID_OPTIONS for an option of gRPC that there is not. */
export function checkGrpcOptions(options: unknown): void {
  if (options !== undefined) parseOptions(GrpcNames, options, 'grpc');
}

/** Throws INVALID_OPTIONS for an option of tasks that there is not. */
export function checkTaskOptions(options: unknown): void {
  if (options !== undefined) parseOptions(TaskNames, options, 'tasks');
}

/** A system's gateway for a server of one's own. */
export interface SystemGateway {
  fetch(request: Request): Promise<Response>;
  readonly routes: readonly ServedRoute[];
  readonly team: ServedTeam;
  /** Takes no more requests; what is in hand has `drainMs` to be done. The system goes on. */
  close(options?: { drainMs?: number }): Promise<void>;
}

/** A system that is served. `url` under which it is reached on this machine, without a slash at its end. */
export interface Serving extends Omit<SystemGateway, 'fetch'>, AsyncDisposable {
  readonly url: string;
  readonly host: string;
  readonly port: number;
  /** Where gRPC is served, as cards say it, such as `127.0.0.1:4001`. */
  readonly grpcAddress: string | undefined;
  /** How many requests are not answered yet, open streams among them. */
  inHand(): number;
  /** Whether callers that prove nothing are let in, and how the others prove who they are. */
  readonly admits: { readonly anonymous: boolean; readonly schemes: readonly string[] };
}

/**
 * The options with their defaults. `isLocal`: nobody but this machine can reach what is served; undefined when that is not
 * known. Throws INVALID_OPTIONS naming field and value.
 */
export function parseGatewayOptions(options: EdgeOptions, isLocal: boolean | undefined) {
  const parsed = parseOptions(EdgeOptions, options, '');
  const { authenticators, hosts, publicUrl } = parsed;
  const isKnown = authenticators.length > 0;
  const anonymous = parsed.anonymous ?? (isLocal === true && !isKnown);
  if (!anonymous && !isKnown && isLocal !== false)
    throw invalidOptions('authenticators', [], 'at least one, or anonymous: true');
  if (parsed.a2a === false && parsed.bindings.length > 0)
    throw invalidOptions(
      'bindings',
      parsed.bindings[0]?.name,
      'none where A2A is not served: they are served by it',
    );
  const isOnlyLocal = isLocal === true && publicUrl === undefined && hosts.length === 0;
  const metrics = parsed.metrics ?? (isKnown && !isOnlyLocal ? 'admitted' : 'open');
  return {
    ...parsed,
    anonymous,
    metrics,
    isOnlyLocal,
    a2a: parsed.a2a !== false && a2aOf(parsed, parsed.a2a),
  };
}

const a2aOf = (
  { authenticators, publicUrl, name, bindings, cardProvider }: z.output<typeof EdgeOptions>,
  a2a: z.output<typeof A2AOptions>,
): ServedA2AOptions => ({
  ...a2a,
  securitySchemes: a2a.securitySchemes ?? schemesOf(authenticators.map(({ scheme }) => scheme)),
  issuer: publicUrl ?? name,
  bindings,
  cardProvider,
});
