import { remoteFailed } from '../../runtime/protocol/edge-errors.ts';
import { reasonOf } from '../../runtime/protocol/errors.ts';
import type { Clock } from '../../runtime/protocol/seams.ts';
import { sleepUntil } from '../../runtime/protocol/sleep-until.ts';
import { SystemEvent } from '../../runtime/protocol/system-event.ts';
import { serverSentEvents } from '../reach/server-sent-events.ts';
import { NamesHere } from './names-here.ts';
import { NodeState, type WatchedNode } from './watched-node.ts';

/** An event with the state of a large team has room. */
const MAX_CHARS = 32_000_000;
/** How long it waits before it tries again, milliseconds: longer each time, up to the last. */
const WAITS_MS = [500, 1_000, 2_000, 5_000, 10_000];

/** Another node that can be watched: under this URL, without a slash at its end, by whoever has this token. */
export interface NodeAddress {
  readonly url: string;
  readonly token: string;
}

/** `self`: what this node is called. */
export interface OtherNodeDeps {
  readonly self: string;
  readonly clock: Pick<Clock, 'now' | 'setTimer'>;
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>;
  /** Shows an event of that node, as this one would have told it: in its time, under the names that things have here. */
  readonly show: (event: SystemEvent) => void;
}

/** Watches another node, and goes on to whenever it has gone. What it tells is checked; what is wrong is left out. */
export class OtherNode {
  readonly #address: NodeAddress;
  readonly #deps: OtherNodeDeps;
  readonly #ending = new AbortController();
  #state: NodeState | undefined;
  #names: NamesHere | undefined;
  /** How far its clock is behind: of all that were seen the least, which was the least under way. */
  #behindMs = Number.POSITIVE_INFINITY;
  #trouble: string | undefined = 'it was not reached yet';

  constructor(address: NodeAddress, deps: OtherNodeDeps) {
    this.#address = address;
    this.#deps = deps;
    void this.#follow();
  }

  /** What it last said of itself. */
  get shown(): WatchedNode {
    const { url } = this.#address;
    const trouble = this.#trouble === undefined ? {} : { trouble: this.#trouble };
    return this.#state === undefined ? { url, ...trouble } : { url, ...this.#state, ...trouble };
  }

  close(): void {
    this.#ending.abort();
  }

  async #follow(): Promise<void> {
    for (let tries = 0; !this.#ending.signal.aborted; tries++) {
      try {
        await this.#read(() => {
          tries = 0;
        });
        this.#trouble = 'it has closed its stream';
      } catch (error) {
        this.#trouble = reasonOf(error);
      }
      const waitMs = WAITS_MS[Math.min(tries, WAITS_MS.length - 1)] as number;
      await sleepUntil(this.#deps.clock, waitMs, this.#ending.signal).catch(() => undefined);
    }
  }

  async #read(onState: () => void): Promise<void> {
    const { url, token } = this.#address;
    const response = await this.#deps.fetch(`${url}/watch/events`, {
      headers: { authorization: `Bearer ${token}`, accept: 'text/event-stream' },
      redirect: 'error',
      signal: this.#ending.signal,
    });
    const { body, ok, status } = response;
    if (!ok || body === null) throw remoteFailed(url, `it answers ${status}`);
    for await (const { type, data } of serverSentEvents(body, { maxChars: MAX_CHARS, from: url })) {
      if (type === 'state') {
        this.#take(data);
        onState();
      }
      if (type === 'events') this.#show(JSON.parse(data) as unknown);
    }
  }

  #take(data: string): void {
    const state = NodeState.safeParse(JSON.parse(data));
    if (!state.success) throw remoteFailed(this.#address.url, 'its state is none that is known here');
    const { self } = this.#deps;
    const { node } = state.data;
    // Nodes that were given no name are all called alike.
    this.#names = new NamesHere(node === self ? new URL(this.#address.url).host : node, self);
    this.#state = this.#names.state(state.data);
    this.#trouble = undefined;
    this.#behindMs = Math.min(this.#behindMs, this.#deps.clock.now() - state.data.nowMs);
  }

  #show(events: unknown): void {
    const names = this.#names;
    if (!Array.isArray(events) || names === undefined) return;
    for (const told of events) {
      const known = SystemEvent.safeParse(told);
      if (!known.success || known.data.node !== undefined) continue;
      const event = names.event(known.data);
      this.#deps.show({ ...event, timestamp: event.timestamp + this.#behindMs });
    }
  }
}
