import { type SystemTasksOptions, useSystemTasks } from './actors/tasks/system-tasks.ts';
import { guardedTools } from './actors/tools/guarded-tools.ts';
import { systemTools } from './actors/tools/system-tools.ts';
import { admit } from './gateway/admit/admit.ts';
import { noteFirewall } from './gateway/admit/firewall-events.ts';
import { firewallGuard } from './gateway/admit/firewall-guard.ts';
import { seenRequestsOf } from './gateway/admit/seen-requests.ts';
import { invalidOptions, stackOf } from './runtime/protocol/errors.ts';
import { PACKAGES_FOR, requirePackages } from './runtime/protocol/optional-packages.ts';
import { requireMethod } from './runtime/protocol/parse-options.ts';
import type { FirewallGuard, FirewallHooks } from './runtime/protocol/firewall.ts';
import type { Seams } from './runtime/protocol/seams.ts';
import type { SystemWithStopWork } from './runtime/system/stop-work.ts';
import { requireOptions } from './runtime/system/system-options.ts';
import type { Gateway } from './gateway/http/gateway.ts';
import type { Admit, GatewayPart } from './gateway/http/gateway-part.ts';
import { hostOf, isLoopback } from './gateway/http/request-guard.ts';
import { a2aPackages, type OpenA2A, openA2A } from './gateway/open-a2a.ts';
import { mcpParts, mcpStdio } from './gateway/open-mcp.ts';
import { operatingParts } from './gateway/operating-parts.ts';
import {
  checkGrpcOptions,
  checkTaskOptions,
  type EdgeOptions,
  type ListeningOptions,
  parseGatewayOptions,
  type ServeFault,
  type Serving,
  type SystemGateway,
} from './gateway/serve-options.ts';
import { CallerRights } from './gateway/team/caller-rights.ts';
import { type ServedTeam, servedTeam } from './gateway/team/served-team.ts';
import {
  LOCAL_USER,
  parseStdioOptions,
  type StdioOptions,
  type StdioServing,
  trustsNobody,
} from './gateway/stdio-options.ts';

export type { GatewayLimits } from './gateway/http/gateway-options.ts';
export type { ServedRoute } from './gateway/http/gateway-part.ts';
export type { TlsOptions } from './gateway/http/tls-material.ts';
export type { PushEvent } from './gateway/a2a/server/push/push-event.ts';
export type { PushOptions } from './gateway/a2a/server/push/push-options.ts';
export {
  type ReceivedNotification,
  SeenNotifications,
  type VerifiedNotification,
  type VerifyNotificationOptions,
  verifyNotification,
} from './gateway/a2a/server/push/verify-notification.ts';
export type { CardKey } from './gateway/a2a/wire/card-key.ts';
export type { JsonWebKey, JsonWebKeySet } from './gateway/a2a/wire/card-key.ts';
export type { DelegationExtensionOptions } from './gateway/a2a/server/delegation.ts';
export type { A2AExtension } from './gateway/a2a/server/caller.ts';
export type { SecurityScheme } from './gateway/a2a/wire/operations.ts';
export type { McpOptions, NamedOffer, Offered } from './gateway/mcp/server/mcp-options.ts';
export type { A2AOptions } from './gateway/open-a2a.ts';
export type {
  ListeningOptions,
  ServeFault,
  Serving,
  SystemGateway,
} from './gateway/serve-options.ts';
export type { StdioOptions, StdioServing } from './gateway/stdio-options.ts';
export type { WatchOptions } from './gateway/watch/watch-options.ts';
export type {
  MissionBoard,
  WatchedBudget,
  WatchedLetter,
  WatchState,
} from './gateway/watch/watch-state.ts';
export type { WatchedNode, WatchedPlace } from './gateway/watch/watched-node.ts';
export type { Trusts } from './gateway/team/caller-rights.ts';
export { responseHash } from './gateway/admit/firewall-guard.ts';
export {
  ATTESTATION_URI,
  Attestation,
  type CardProvider,
  type FilterQuery,
  type FirewallHooks,
  type SanitizeResponse,
  type ZKAttestFunc,
} from './runtime/protocol/firewall.ts';
export type { ServedTeam, TeamIdentity } from './gateway/team/served-team.ts';

/** How a system is served. `tasks`: how many there may be, how long they are kept, and may be worked at. */
export interface SystemGatewayOptions extends EdgeOptions {
  readonly tasks?: Pick<SystemTasksOptions, 'limits' | 'turnMs'>;
}

/** As `SystemGatewayOptions`, and where it listens. */
export interface ServeOptions extends SystemGatewayOptions, ListeningOptions {}

/**
 * Serves a system over HTTP, until it is closed or the system stops.
 *
 * Rejects with INVALID_OPTIONS naming field and value: also for an address that others can reach, without an authenticator.
 * Rejects with PEERS_MISSING naming the packages that it needs, so served, and has not got.
 */
export async function serve(system: SystemWithStopWork, options: ServeOptions = {}): Promise<Serving> {
  const { host = '127.0.0.1', port, tls, grpc, ...rest } = requireOptions(options);
  checkGrpcOptions(grpc);
  const isLocal = (where: string | undefined): boolean =>
    where === undefined || isLoopback(hostOf(String(where)));
  const opened = await open(system, rest, {
    isLocal: isLocal(host),
    isGrpcLocal: isLocal(grpc?.host),
    packages: [...PACKAGES_FOR.listening, ...(grpc === undefined ? [] : PACKAGES_FOR.grpc)],
  });
  const { gateway, team, admits } = opened;
  const where = { host, ...(tls === undefined ? {} : { tls }) };
  const ends: Close[] = [];
  const closeAll: Close = async (given) => {
    const closed = await Promise.allSettled(ends.map((end) => end(given)));
    for (const end of closed) if (end.status === 'rejected') throw end.reason;
  };
  try {
    const { listen } = await import('./gateway/http/listen.ts');
    const listening = await listen(gateway, { ...where, ...(port === undefined ? {} : { port }) });
    ends.push(listening.close);
    if (grpc !== undefined)
      ends.push(await addGrpc(opened, { ...where, ...grpc }, rest.publicUrl ?? listening.url));
    const close = closing(system, closeAll, opened);
    return {
      ...listening,
      grpcAddress: opened.a2a?.grpcAddress,
      routes: gateway.routes,
      team,
      admits,
      inHand: () => gateway.inHand,
      close,
      [Symbol.asyncDispose]: () => close(),
    };
  } catch (error) {
    await closeAll({ drainMs: 0 });
    await gateway.close({ drainMs: 0 }).finally(opened.close);
    throw error;
  }
}

/**
 * Serves a system over MCP to the program at the other end of a pair of streams, until that has gone, it is closed, or the
 * system stops. Rejects with INVALID_OPTIONS naming field and value.
 */
export async function serveStdio(
  system: SystemWithStopWork,
  options: StdioOptions = {},
): Promise<StdioServing> {
  requireRunning(system);
  const {
    mcp = {},
    firewall: hooks,
    principal = LOCAL_USER,
    trusts = trustsNobody,
    input = process.stdin,
    output = process.stdout,
  } = parseStdioOptions(options);
  const { name = 'Orrery', description = 'A supervised team of agents', version = '1.0.0', expose } = options;
  const client = await system.client();
  const { seams } = client;
  const team = servedTeam(system.registry, { identity: { name, description, version }, expose }, seams);
  requireAttesting(hooks);
  const { tasks, firewall, release } = await useSystemTasks(system, firewallOf(client, hooks));
  const onFault =
    options.onFault ?? ((error: unknown) => process.emitWarning(String(error), 'OrreryWarning'));
  const tools = toolsBehind(system, firewall);
  const deps = { tools, tasks, team, client, rights: new CallerRights({ trusts }), firewall };
  try {
    const connection = await mcpStdio(mcp, deps, { input, output, principal, onFault });
    try {
      const close = closing(system, () => connection.close(), { close: release });
      return { ended: connection.ended, close, [Symbol.asyncDispose]: () => close() };
    } catch (error) {
      await connection.close();
      throw error;
    }
  } catch (error) {
    await release();
    throw error;
  }
}

/** Serves what A2A serves over gRPC too; what it returns ends that. */
async function addGrpc(
  { gateway, a2a, admitted, seams, onFault }: Opened,
  { publicAddress, ...options }: NonNullable<ServeOptions['grpc']>,
  baseUrl: string,
): Promise<Close> {
  if (a2a === undefined) throw invalidOptions('grpc', options, 'nothing where A2A is not served');
  const { serveGrpc } = await import('./gateway/a2a/server/grpc/serve-grpc.ts');
  const { service, signer } = a2a;
  const { isGuarded } = gateway;
  const serving = await serveGrpc({
    ...options,
    service,
    isGuarded,
    baseUrl,
    admit: admitted,
    clock: seams.clock,
    onFault: (error, path) => onFault({ error, requestId: '', method: 'gRPC', path }),
    ...(signer === undefined ? {} : { signer }),
  });
  a2a.grpcAddress = publicAddress ?? serving.address;
  return (given) => serving.close(given);
}

/**
 * A system's gateway in the shape of `fetch`, for a server of one's own, until it is closed or the system stops. Who can reach
 * that server is not known here: callers that prove nothing are let in where `anonymous` says so, and only there.
 *
 * Rejects with INVALID_OPTIONS naming field and value.
 */
export async function createSystemGateway(
  system: SystemWithStopWork,
  options: SystemGatewayOptions = {},
): Promise<SystemGateway> {
  const opened = await open(system, options, { isLocal: undefined, isGrpcLocal: true, packages: [] });
  const { gateway, team } = opened;
  try {
    const close = closing(system, (given) => gateway.close(given), opened);
    return { fetch: gateway.fetch, routes: gateway.routes, team, close };
  } catch (error) {
    await gateway.close({ drainMs: 0 }).finally(opened.close);
    throw error;
  }
}

/** Throws INVALID_OPTIONS for what is no system, and SYSTEM_STOPPED for one that is none any more. */
function requireRunning(system: SystemWithStopWork): void {
  requireMethod('system', system, 'beforeStop', 'a system of startSystem');
  system.beforeStop(() => Promise.resolve())();
}

type Close = (options?: { drainMs?: number }) => Promise<void>;

interface Opened {
  readonly gateway: Gateway;
  readonly team: ServedTeam;
  readonly admits: Serving['admits'];
  readonly admitted: Admit;
  readonly seams: Seams;
  readonly a2a: OpenA2A | undefined;
  readonly onFault: (fault: ServeFault) => void;
  /** What is behind the gateway. */
  close(): Promise<void>;
}

/**
 * - `isLocal`  only this machine can reach what is served; undefined when that is not known.
 * - `packages` that are needed beside those of the gateway itself.
 */
interface Reach {
  readonly isLocal: boolean | undefined;
  readonly isGrpcLocal: boolean;
  readonly packages: readonly string[];
}

async function open(
  system: SystemWithStopWork,
  options: SystemGatewayOptions,
  { isLocal, isGrpcLocal, packages }: Reach,
): Promise<Opened> {
  requireRunning(system);
  const { tasks: taskOptions, ...rest } = requireOptions(options);
  checkTaskOptions(taskOptions);
  const parsed = parseGatewayOptions(rest, isLocal);
  requirePackages('The gateway', [
    ...PACKAGES_FOR.gateway,
    ...packages,
    ...(parsed.a2a === false ? [] : a2aPackages(parsed.a2a)),
    ...(rest.mcp ? PACKAGES_FOR.mcp : []),
  ]);
  requireAttesting(parsed.firewall);
  const { authenticators, anonymous, rules, limits, hosts, origins, publicUrl, approver } = parsed;
  const client = await system.client();
  const { seams } = client;
  const { name, description, version, provider, documentationUrl } = parsed;
  const identity = {
    name,
    description,
    version,
    ...(provider === undefined ? {} : { provider }),
    ...(documentationUrl === undefined ? {} : { documentationUrl }),
  };
  const team = servedTeam(system.registry, { identity, entry: parsed.entry, expose: parsed.expose }, seams);
  const records = client.records === undefined ? undefined : system.records;
  const seen = await seenRequestsOf(system, records && { records, clock: seams.clock });
  const admitted: Admit = (request, known) =>
    admit(request, { authenticators, anonymous, rules, seen }, known);
  const { tasks, firewall, release } = await useSystemTasks(system, {
    ...taskOptions,
    ...firewallOf(client, parsed.firewall),
    ...(approver === undefined ? {} : { approver }),
  });
  const onFault = parsed.onFault ?? warnOnce();
  const schemes = authenticators.map(({ scheme }) => scheme);
  const parts: GatewayPart[] = [];
  try {
    parts.push(
      ...operatingParts({
        system: {
          roster: () => system.roster(),
          metrics: () => system.metrics(),
          ...(records === undefined
            ? {}
            : { write: () => records.put('gateway', 'health', seams.clock.now()) }),
        },
        metrics: async () => `${await gateway.metrics.text()}${(await a2a?.metrics()) ?? ''}`,
        readers: parsed.metrics,
        admit: admitted,
        clock: seams.clock,
      }),
    );
    const { trusts } = parsed;
    const rights = new CallerRights({ trusts, strangers: !(parsed.isOnlyLocal && isGrpcLocal) });
    const a2a =
      parsed.a2a === false
        ? undefined
        : await openA2A(parsed.a2a, { tasks, team, client, records, seen, rights });
    parts.push(...(a2a?.parts ?? []));
    if (parsed.mcp !== false) {
      const rights = new CallerRights({ trusts, strangers: !parsed.isOnlyLocal });
      const tools = toolsBehind(system, firewall);
      const mcp = { tools, tasks, team, client, rights, firewall };
      parts.push(...(await mcpParts(rest.mcp || undefined, mcp)));
    }
    if (parsed.watch !== false) {
      const { openWatch } = await import('./gateway/open-watch.ts');
      const about = { node: system.peers.node ?? 'local', name };
      const isOpen = anonymous && !authenticators.length && parsed.isOnlyLocal;
      const machines = async () => {
        const [{ MACHINES }, { drawingOf }] = await Promise.all([
          import('./machines.ts'),
          import('./runtime/machine/machine-drawing.ts'),
        ]);
        return [...MACHINES.map(drawingOf), ...(await system.machines())];
      };
      parts.push(openWatch({ system, seams, about, options: parsed.watch, machines, isOpen }));
    }
    const { createGateway } = await import('./gateway/http/gateway.ts');
    const gateway: Gateway = createGateway({
      parts,
      admit: admitted,
      schemes,
      seams,
      hosts,
      origins,
      onFault,
      ...(limits === undefined ? {} : { limits }),
      ...(publicUrl === undefined ? {} : { publicUrl }),
    });
    return {
      gateway,
      team,
      admits: { anonymous, schemes },
      admitted,
      seams,
      a2a,
      onFault,
      close: release,
    };
  } catch (error) {
    await Promise.allSettled(parts.map((part) => part.close?.()));
    await release();
    throw error;
  }
}

/** The firewall before a system's agents, and what it has kept out or in as events of the system. */
const firewallOf = (
  client: Client,
  hooks: FirewallHooks | undefined,
): { readonly firewall?: FirewallGuard } =>
  hooks === undefined
    ? {}
    : { firewall: firewallGuard(hooks, { clock: client.seams.clock, tell: noteFirewall(client) }) };

/** What is attested is hashed as RFC 8785 has it. */
function requireAttesting(hooks: FirewallHooks | undefined): void {
  if (hooks?.zkAttest !== undefined)
    requirePackages('Attestation (firewall.zkAttest)', PACKAGES_FOR.attestations);
}

const toolsBehind = (system: SystemWithStopWork, firewall: FirewallGuard | undefined) =>
  firewall === undefined ? systemTools(system) : guardedTools(systemTools(system), firewall);

type Client = Awaited<ReturnType<SystemWithStopWork['client']>>;

/** Closes once: the gateway, what is behind it, and before the system stops. */
function closing(system: SystemWithStopWork, closeGateway: Close, opened: Pick<Opened, 'close'>): Close {
  let closed: Promise<void> | undefined;
  const close: Close = (options) => {
    closed ??= closeGateway(options)
      .finally(() => opened.close())
      .finally(forget);
    return closed;
  };
  const forget = system.beforeStop(close);
  return close;
}

/** One that fails at every request would fill the screen. */
function warnOnce(): (fault: ServeFault) => void {
  let isTold = false;
  return ({ error, requestId, method, path }) => {
    if (isTold) return;
    isTold = true;
    const detail = stackOf(error) ?? (error instanceof Error ? String(error.stack) : String(error));
    const text = `The gateway failed at ${method} ${path} (request ${requestId}); further failures are only counted`;
    process.emitWarning(text, { type: 'OrreryWarning', detail });
  };
}
