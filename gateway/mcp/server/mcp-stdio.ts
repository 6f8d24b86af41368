import type { Readable, Writable } from 'node:stream';
import type { Server } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import type { Principal } from '../../../runtime/protocol/principal.ts';
import type { McpService } from './mcp-service.ts';
import { sdkServer } from './sdk-server.ts';
import { StdioListens } from './task-listen.ts';
import { StdioWire } from './stdio-wire.ts';

/**
 * - `input`, `output` of the connection: one message a line, and nothing else.
 * - `principal`       the client.
 * - `onFault`         gets the errors that the client is not told of.
 */
export interface McpStdioOptions {
  readonly input: Readable;
  readonly output: Writable;
  readonly principal: Principal;
  readonly onFault: (error: unknown) => void;
}

/** A client that is served. `ended` resolves when its input has ended, or its output is broken. */
export interface McpConnection {
  readonly ended: Promise<void>;
  close(): Promise<void>;
}

/** Serves MCP over a pair of streams, in all revisions. The client's first message decides which. */
export function serveMcpStdio(
  service: McpService,
  { input, output, principal, onFault }: McpStdioOptions,
): McpConnection {
  const servers = new Map<Server, ReadonlySet<string>>();
  const ended = Promise.withResolvers<void>();
  for (const [stream, event] of [
    [input, 'end'],
    [input, 'close'],
    [output, 'close'],
    [output, 'error'],
  ] as const)
    stream.once(event, () => ended.resolve());
  const { maxSubscriptions } = service.options;
  const wire = new StdioWire(input, output);
  const listens = new StdioListens({
    service,
    principal,
    send: (message) => void wire.write(message).catch(() => undefined),
  });
  wire.between = listens;
  void ended.promise.then(() => listens.close());
  const handle = serveStdio(
    ({ era }) => {
      const subscriptions = new Set<string>();
      const server = sdkServer({
        service,
        principal,
        era,
        onFault,
        ...(era === 'legacy' ? { subscriptions } : {}),
      });
      servers.set(server, subscriptions);
      const { onclose } = server;
      server.onclose = () => {
        servers.delete(server);
        onclose?.();
      };
      return server;
    },
    { transport: wire, maxSubscriptions },
  );
  const tell = (say: (server: Server) => Promise<void>, uri?: string): void => {
    for (const [server, subscriptions] of servers) {
      // Since 2026-07-28 the SDK filters by each stream's own subscriptions.
      const isWanted =
        uri === undefined || server.getNegotiatedProtocolVersion() === MODERN || subscriptions.has(uri);
      if (isWanted) say(server).catch(() => undefined);
    }
  };
  const stopListening = [
    service.tools.onChange((change) =>
      tell((server) => {
        if (change === 'tools') return server.sendToolListChanged();
        return change === 'resources' ? server.sendResourceListChanged() : server.sendPromptListChanged();
      }),
    ),
    service.tools.onUpdate((uri) => tell((server) => server.sendResourceUpdated({ uri }), uri)),
  ];
  return {
    ended: ended.promise,
    close: async () => {
      for (const stop of stopListening) stop();
      await handle.close();
      listens.close();
    },
  };
}

const MODERN = '2026-07-28';
