import type { Client, SubscriptionFilter } from '@modelcontextprotocol/client';
import type { McpListener } from '../../../runtime/protocol/mcp-link.ts';
import type { Clock } from '../../../runtime/protocol/seams.ts';

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 30_000;
/** The most resources that are subscribed to. */
const MOST_WATCHED = 256;

export interface ChangeWatchDeps {
  readonly listener: McpListener;
  readonly clock: Clock;
}

/**
 * Passes a server's notifications of changes and logs to a listener. Since 2026-07-28 they come in a stream that is asked
 * for; before, on their own.
 */
export class ChangeWatch {
  readonly #client: Client;
  readonly #deps: ChangeWatchDeps;
  readonly #ending = new AbortController();
  #waitMs = FIRST_WAIT_MS;
  #uris: ReadonlySet<string> = new Set();
  #isListening = false;
  #close: () => void = () => undefined;

  /** Must be made before the client is connected. */
  constructor(client: Client, deps: ChangeWatchDeps) {
    this.#client = client;
    this.#deps = deps;
    const { listener } = deps;
    client.setNotificationHandler('notifications/tools/list_changed', () => listener.onChange('tools'));
    client.setNotificationHandler('notifications/resources/list_changed', () =>
      listener.onChange('resources'),
    );
    client.setNotificationHandler('notifications/prompts/list_changed', () => listener.onChange('prompts'));
    client.setNotificationHandler('notifications/resources/updated', ({ params }) =>
      listener.onUpdate(params.uri),
    );
    client.setNotificationHandler('notifications/message', ({ params }) =>
      listener.onLog(`${params.level}: ${sayable(params.data)}`),
    );
  }

  /** Must be called once the client is connected. */
  begin(): void {
    if (this.#client.getProtocolEra() === 'modern') void this.#listen(false);
  }

  end(): void {
    this.#ending.abort();
  }

  /** Subscribes to these resources, and to no others from now on. */
  want(uris: readonly string[]): void {
    const before = this.#uris;
    this.#uris = new Set(uris.slice(0, MOST_WATCHED));
    if (this.#client.getServerCapabilities()?.resources?.subscribe !== true) return;
    const added = [...this.#uris].filter((uri) => !before.has(uri));
    const gone = [...before].filter((uri) => !this.#uris.has(uri));
    if (added.length + gone.length === 0) return;
    if (this.#client.getProtocolEra() === 'modern') {
      if (this.#isListening) this.#close();
      else void this.#listen(false);
      return;
    }
    // If the server refuses a subscription, changes of that resource are not noticed.
    for (const uri of added) this.#client.subscribeResource({ uri }).catch(() => undefined);
    for (const uri of gone) this.#client.unsubscribeResource({ uri }).catch(() => undefined);
  }

  get #filter(): SubscriptionFilter {
    const { tools, resources, prompts } = this.#client.getServerCapabilities() ?? {};
    const watches = resources?.subscribe === true && this.#uris.size > 0;
    return {
      ...(tools?.listChanged === true ? { toolsListChanged: true } : {}),
      ...(resources?.listChanged === true ? { resourcesListChanged: true } : {}),
      ...(prompts?.listChanged === true ? { promptsListChanged: true } : {}),
      ...(watches ? { resourceSubscriptions: [...this.#uris] } : {}),
    };
  }

  /**
   * Opens the stream, and opens it again when it ends. Changes in between are unknown, so `onChange` is called after that.
   */
  async #listen(isAgain: boolean): Promise<void> {
    const filter = this.#filter;
    const { signal } = this.#ending;
    if (Object.keys(filter).length === 0 || signal.aborted) return;
    this.#isListening = true;
    let how: 'local' | 'graceful' | 'remote' = 'remote';
    try {
      const subscription = await this.#client.listen(filter, { signal });
      this.#waitMs = FIRST_WAIT_MS;
      if (isAgain) this.#deps.listener.onChange('tools');
      this.#close = () => void subscription.close().catch(() => undefined);
      how = await subscription.closed;
    } catch {
      // Tried again below, as after an end.
    }
    this.#isListening = false;
    if (signal.aborted) return;
    // It was closed by `want`, to be opened with other resources.
    if (how === 'local') return void this.#listen(false);
    const stop = this.#deps.clock.setTimer(this.#waitMs, () => void this.#listen(true));
    signal.addEventListener('abort', stop, { once: true });
    this.#waitMs = Math.min(LONGEST_WAIT_MS, this.#waitMs * 2);
  }
}

function sayable(data: unknown): string {
  try {
    return (typeof data === 'string' ? data : JSON.stringify(data)).slice(0, 1_000);
  } catch {
    return '';
  }
}
