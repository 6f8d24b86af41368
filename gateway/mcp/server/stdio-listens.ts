import type { JSONRPCMessage } from '@modelcontextprotocol/server';
import type { Principal } from '../../../runtime/protocol/principal.ts';
import { mcpErrorOf } from './mcp-errors.ts';
import type { McpService } from './mcp-service.ts';
import { ACKNOWLEDGED, subscriptionOf, type TaskListening, taskListening } from './task-listen.ts';

type Message = Readonly<Record<string, unknown>>;

/** `send`: to the client, past everything here. */
export interface StdioListensDeps {
  readonly service: McpService;
  readonly principal: Principal;
  readonly send: (message: JSONRPCMessage) => void;
}

/** What a client over a pair of streams wants to hear of its tasks, by what it says and is told. */
export class StdioListens {
  readonly #deps: StdioListensDeps;
  /** By the id of the request; those that have begun can be stopped. */
  readonly #open = new Map<unknown, { readonly listening: TaskListening; stop?: () => void }>();

  constructor(deps: StdioListensDeps) {
    this.#deps = deps;
  }

  /** What is to be served of what the client has said; undefined when it has its answer. */
  arriving(message: JSONRPCMessage): JSONRPCMessage | undefined {
    const said = message as Message;
    if (said['method'] === 'notifications/cancelled') this.#end((said['params'] as Message)?.['requestId']);
    const { service, principal, send } = this.#deps;
    try {
      const listening = service.hasTasks ? taskListening(message, service, principal) : undefined;
      if (listening === undefined) return message;
      this.#end(said['id']);
      this.#open.set(said['id'], { listening });
      return listening.others as JSONRPCMessage;
    } catch (error) {
      const { code, message: sentence, data } = mcpErrorOf(error);
      const told = { code, message: sentence, ...(data === undefined ? {} : { data }) };
      send({ jsonrpc: '2.0', id: said['id'], error: told } as JSONRPCMessage);
      return undefined;
    }
  }

  /** What the client is told: of a subscription, with its tasks. `sent` is to be called when that is on its way. */
  leaving(message: JSONRPCMessage): { readonly message: JSONRPCMessage; readonly sent?: () => void } {
    const told = message as Message;
    if (told['method'] !== ACKNOWLEDGED) {
      if (told['method'] === undefined) this.#end(told['id']);
      return { message };
    }
    const open = this.#open.get(subscriptionOf(told));
    if (open === undefined) return { message };
    const { listening } = open;
    return {
      message: listening.acknowledge(told) as JSONRPCMessage,
      sent: () => {
        open.stop = listening.begin((news) => this.#deps.send(news as JSONRPCMessage));
      },
    };
  }

  close(): void {
    for (const id of [...this.#open.keys()]) this.#end(id);
  }

  #end(id: unknown): void {
    this.#open.get(id)?.stop?.();
    this.#open.delete(id);
  }
}
