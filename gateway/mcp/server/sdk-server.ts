import { CLIENT_CAPABILITIES_META_KEY, Server, type ServerContext } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { Principal } from '../../../runtime/protocol/principal.ts';
import { isObject } from '../../http/json-text.ts';
import type { Result } from './json-shapes.ts';
import { traceOf } from './call-span.ts';
import { clientCan, type McpCall } from './mcp-call.ts';
import { isFault, mcpErrorOf } from './mcp-errors.ts';
import type { McpService } from './mcp-service.ts';

/** Accepts all params: the service checks them. */
const AnyParams = z.looseObject({}).optional();

/** How often a client before 2026-07-28 may be asked for inputs within one call. */
const MAX_ROUNDS = 32;

/**
 * - `onFault`       gets the errors that the client is not told of.
 * - `subscriptions` collects the URIs that a client before 2026-07-28 subscribes to. @default it cannot subscribe
 */
export interface SdkServerDeps {
  readonly service: McpService;
  readonly principal: Principal;
  readonly era: 'modern' | 'legacy';
  readonly onFault: (error: unknown) => void;
  readonly subscriptions?: Set<string>;
}

/** The SDK's server without a registry: what agents offer is looked up for each request. */
class OpenServer extends Server {
  /**
   * Lets the SDK treat a call like a prompt: both may be suspended, and the result needs no validation, because it was made
   * here.
   */
  protected override _wrapHandler(
    method: string,
    handler: Parameters<Server['_wrapHandler']>[1],
  ): ReturnType<Server['_wrapHandler']> {
    const isSuspendable = method === 'tools/call' || method === 'tasks/result';
    return super._wrapHandler(isSuspendable ? 'prompts/get' : method, handler);
  }
}

/** Makes the SDK's server for one connection or one request of a caller. */
export function sdkServer(deps: SdkServerDeps): Server {
  const { service, era, principal, onFault, subscriptions } = deps;
  const { options } = service;
  const server = new OpenServer(service.identity, {
    capabilities: service.capabilities(era),
    inputRequired: { maxRounds: MAX_ROUNDS },
    ...(options.instructions === undefined ? {} : { instructions: options.instructions }),
  });
  server.onerror = () => undefined;
  const follow = era === 'legacy' ? taskFollower(server, service, principal) : undefined;
  for (const method of service.methods(era))
    server.setRequestHandler(method, { params: AnyParams }, async (params, ctx) => {
      try {
        const result = await service.perform(
          method,
          params ?? {},
          callOf(server, ctx as ServerContext, deps),
        );
        if (method === 'tools/call') follow?.(result['task']);
        return result;
      } catch (error) {
        if (isFault(error)) onFault(error);
        throw mcpErrorOf(error);
      }
    });
  if (subscriptions !== undefined) {
    const uriOf = z.looseObject({ uri: z.string() });
    server.setRequestHandler('resources/subscribe', { params: uriOf }, ({ uri }) => {
      if (service.viewOf(principal).maySee(uri)) subscriptions.add(uri);
      return {};
    });
    server.setRequestHandler('resources/unsubscribe', { params: uriOf }, ({ uri }) => {
      subscriptions.delete(uri);
      return {};
    });
  }
  return server;
}

/** Notifies a client of the status of the tasks that it starts, until the connection closes. */
function taskFollower(server: Server, service: McpService, principal: Principal): (task: unknown) => void {
  const stops = new Map<string, () => void>();
  const { onclose } = server;
  server.onclose = () => {
    for (const stop of stops.values()) stop();
    onclose?.();
  };
  return (task) => {
    const taskId = isObject(task) ? task['taskId'] : undefined;
    if (typeof taskId !== 'string') return;
    const tell = (params: Result): void => {
      if (OVER.has(params['status'])) stops.delete(taskId);
      server.notification({ method: 'notifications/tasks/status', params }).catch(() => undefined);
    };
    stops.set(taskId, service.followTask(taskId, principal, tell));
  };
}

const OVER: ReadonlySet<unknown> = new Set(['completed', 'failed', 'cancelled']);

function callOf(
  server: Server,
  ctx: ServerContext,
  { service, principal, era, onFault }: SdkServerDeps,
): McpCall {
  const { mcpReq } = ctx;
  const capabilities =
    era === 'modern'
      ? (mcpReq.envelope as Record<string, unknown> | undefined)?.[CLIENT_CAPABILITIES_META_KEY]
      : server.getClientCapabilities();
  return {
    principal,
    view: service.viewOf(principal),
    era,
    signal: mcpReq.signal,
    can: clientCan(capabilities),
    progressToken: mcpReq._meta?.progressToken,
    trace: traceOf(mcpReq._meta),
    inputResponses: mcpReq.inputResponses,
    requestState: mcpReq.requestState(),
    fault: onFault,
    notify: (method, params) => {
      // A client that has gone needs no notification.
      mcpReq.notify({ method, params } as never).catch(() => undefined);
    },
    log: (level, data, logger) => {
      mcpReq.log(level as Parameters<typeof mcpReq.log>[0], data, logger).catch(() => undefined);
    },
  };
}
