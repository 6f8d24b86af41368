import { DELEGATION_URI } from '../../../runtime/protocol/a2a-extension.ts';
import { invalidCard, invalidOptions } from '../../../runtime/protocol/errors.ts';
import { parseOptions } from '../../../runtime/protocol/parse-options.ts';
import type {
  RemoteCallOptions,
  RemoteEvent,
  RemoteLink,
  RemoteTask,
  RemoteMessage,
} from '../../../runtime/protocol/remote-agent.ts';
import type { Seams } from '../../../runtime/protocol/seams.ts';
import { systemSeams } from '../../../runtime/protocol/system-seams.ts';
import type { TaskMessage, TaskState } from '../../../runtime/protocol/task.ts';
import { wait, waitMsAfter } from './wait.ts';
import { CardFinder } from './card/find-card.ts';
import type { RemoteCard, RemoteInterface } from './card/remote-card.ts';
import { cardVerifier } from './card/verify-card.ts';
import { callLimit } from './call-limit.ts';
import { ClientOptions, type ClientSettings } from './client-options.ts';
import { afterOthers, cannotHaveArrived, Exchange, mayPassLater } from './exchange.ts';
import { TaskSubscription, type TaskSubscriptionDeps, retryAfterIn } from './task-subscription.ts';
import { HttpCalls } from './http-calls.ts';
import { isOtherVersion } from './remote-errors.ts';
import { AnyPage, AnyTask, type RemotePage, schemaOfEvent } from '../wire/answers.ts';
import type { OrderName, Orders, SendingOrder } from '../wire/dialect.ts';

/** The result of a message: a task, or an answer without one. */
export type RemoteAnswer = Extract<RemoteEvent, { kind: 'task' | 'message' }>;

/**
 * - `returnImmediately`   resolve as soon as the task exists, not when it is over or waits for somebody. @default false
 * - `acceptedOutputModes` media types. @default anything
 */
export interface SendOptions extends RemoteCallOptions {
  readonly returnImmediately?: boolean;
  readonly historyLength?: number;
  readonly acceptedOutputModes?: readonly string[];
}

/**
 * Which tasks `list` returns, and how much of each.
 *
 * - `pageSize`      tasks on a page. @default 50
 * - `pageToken`     of the next page, from the page before. @default the first page
 * - `historyLength` messages of the history of each task.
 * - `artifacts`     whether tasks come with their artifacts.
 */
export interface ListQuery {
  readonly contextId?: string;
  readonly state?: TaskState;
  readonly pageSize?: number;
  readonly pageToken?: string;
  readonly historyLength?: number;
  readonly artifacts?: boolean;
}

/**
 * A client of one agent elsewhere, over A2A 1.0, 0.3 or before, by JSON-RPC or REST, as its card offers.
 *
 * Reads are tried again after a failure. A message is sent again if it cannot have arrived. If it may have arrived, it is sent
 * again only if the card says, by our extension, that a message sent twice is one message there.
 */
export class RemoteAgentClient implements RemoteLink, Disposable {
  readonly url: URL;
  readonly #options: ClientOptions;
  readonly #settings: ClientSettings;
  readonly #seams: Seams;
  readonly #calls: HttpCalls;
  readonly #finder: CardFinder;
  #chosen: RemoteInterface | undefined;

  /** Throws INVALID_OPTIONS naming field and value. */
  constructor(url: string | URL, options: ClientOptions = {}, seams: Seams = systemSeams()) {
    this.#settings = parseOptions(ClientOptions, options, 'client');
    this.#options = options;
    this.url = httpUrl(url);
    this.#seams = seams;
    const { clock } = seams;
    const calls = new HttpCalls(this.#settings.tls, clock);
    const verify = cardVerifier({ settings: this.#settings, calls, clock });
    this.#calls = calls;
    this.#finder = new CardFinder(this.url, { calls, settings: this.#settings, clock, verify });
  }

  /**
   * Resolves to the agent's card, verified. Rejects with REMOTE_UNREACHABLE, REMOTE_FAILED, INVALID_CARD, and UNAUTHENTICATED if
   * its signature is missing or wrong.
   */
  card(options: RemoteCallOptions = {}): Promise<RemoteCard> {
    return this.#within(options, (signal) => this.#again(() => this.#finder.card(signal), signal));
  }

  /**
   * Sends a message. Resolves to the task when it is over or waits for somebody, or to an answer without a task. It follows the
   * task by a stream if the other side has them, else by asking again.
   *
   * Rejects with the other side's error (UNAUTHENTICATED, NOT_PERMITTED, RATE_LIMITED, TASK_NOT_FOUND, TASK_OVER,
   * INVALID_PAYLOAD, ...), REMOTE_UNREACHABLE (`details.mayHaveArrived`), REMOTE_FAILED, INVALID_CARD, DEADLINE_EXCEEDED and
   * CANCELLED.
   */
  send(message: RemoteMessage, options: SendOptions = {}): Promise<RemoteAnswer> {
    return this.#within(options, async (signal) => {
      checkMessage(message);
      const card = await this.#cardFor(signal);
      const order = this.#orderOf(message, options, card);
      if (options.returnImmediately === true) return await this.#sendNow(order, card, signal);
      if (!card.streaming) return await this.#sendAndAsk(order, card, signal);
      let last: RemoteAnswer | undefined;
      for await (const { following, event } of this.#follow({ order }, card, signal)) {
        const { task } = following;
        last =
          event.kind === 'message' || task === undefined ? (event as RemoteAnswer) : { kind: 'task', task };
      }
      return last as RemoteAnswer;
    });
  }

  /** Sends a message, and yields events until the task is over or waits for somebody. Fails as `send` does. */
  stream(message: RemoteMessage, options: SendOptions = {}): AsyncGenerator<RemoteEvent, void> {
    return this.#streamWithin(options, async function* (client, signal) {
      checkMessage(message);
      const card = await client.#cardFor(signal);
      const order = client.#orderOf(message, options, card);
      if (card.streaming) {
        for await (const { event } of client.#follow({ order }, card, signal)) yield event;
        return;
      }
      const returnImmediately = order.taskId === undefined;
      const answer = await client.#sendNow({ ...order, returnImmediately }, card, signal);
      yield answer;
      if (answer.kind === 'message') return;
      const following = client.#subscription(card);
      // Events that the reader has got already.
      yield* following.events({ taskId: answer.task.id }, signal, answer.task);
    });
  }

  /** Yields the task as it is now, and then its events. Fails as `send` does. */
  subscribe(taskId: string, options: RemoteCallOptions = {}): AsyncGenerator<RemoteEvent, void> {
    return this.#streamWithin(options, async function* (client, signal) {
      const card = await client.#cardFor(signal);
      for await (const { event } of client.#follow({ taskId }, card, signal)) yield event;
    });
  }

  /** Resolves to the task as it is now. Fails as `send` does. */
  get(
    taskId: string,
    { historyLength, ...options }: RemoteCallOptions & { readonly historyLength?: number } = {},
  ): Promise<RemoteTask> {
    const order = { taskId, ...(historyLength === undefined ? {} : { historyLength }) };
    return this.#read('get', order, options, (exchange, value) => exchange.read(AnyTask, value));
  }

  /** Lists this client's own tasks, the newest first. Only 1.0 has that; else REMOTE_FAILED. Fails as `send` does. */
  list({ pageSize = 50, ...query }: ListQuery = {}, options: RemoteCallOptions = {}): Promise<RemotePage> {
    return this.#read('list', { pageSize, ...query }, options, (exchange, value) =>
      exchange.read(AnyPage, value),
    );
  }

  /** Ends a task and the work at it. Rejects with TASK_OVER when it is over, and as `send` does. */
  cancel(taskId: string, options: RemoteCallOptions = {}): Promise<RemoteTask> {
    return this.#read('cancel', { taskId }, options, (exchange, value) => exchange.read(AnyTask, value));
  }

  /** A client of another agent of the same or an allowed origin. Throws INVALID_OPTIONS for other origins. */
  linkTo(url: string): RemoteAgentClient {
    const { origin } = httpUrl(url);
    const origins = [this.url.origin, ...this.#settings.allowedOrigins];
    if (!origins.includes(origin)) throw invalidOptions('url', url, `an agent at ${origins.join(' or ')}`);
    return new RemoteAgentClient(url, this.#options, this.#seams);
  }

  /** Closes idle connections. */
  close(): void {
    this.#calls.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  // Orders

  #orderOf(given: RemoteMessage, options: SendOptions, card: RemoteCard): SendingOrder {
    const { parts, messageId = this.#seams.newId(), taskId, contextId, metadata, delegation } = given;
    const isOurs = card.delegation !== undefined && delegation !== undefined;
    const told = isOurs ? { ...metadata, [DELEGATION_URI]: delegation as never } : metadata;
    const message: TaskMessage = {
      messageId,
      role: 'user',
      parts: [...parts],
      ...(told === undefined ? {} : { metadata: told }),
      ...(isOurs ? { extensions: [DELEGATION_URI] } : {}),
    };
    const { returnImmediately = false, historyLength, acceptedOutputModes = [] } = options;
    return {
      message,
      returnImmediately,
      acceptedOutputModes,
      ...(taskId === undefined ? {} : { taskId }),
      ...(contextId === undefined ? {} : { contextId }),
      ...(historyLength === undefined ? {} : { historyLength }),
    };
  }

  #sendNow(order: SendingOrder, card: RemoteCard, signal?: AbortSignal): Promise<RemoteAnswer> {
    const send = () =>
      this.#anyWay(card, async (exchange) => {
        const { schema, inner } = schemaOfEvent(await exchange.ask('send', order, signal));
        return exchange.read(schema, inner) as RemoteAnswer;
      });
    return this.#again(send, signal, isIdempotent(card) ? mayPassLater : cannotHaveArrived);
  }

  async #sendAndAsk(order: SendingOrder, card: RemoteCard, signal?: AbortSignal): Promise<RemoteAnswer> {
    // If a message continues a task, an immediate answer may show the task as it was before.
    const returnImmediately = order.taskId === undefined;
    const answer = await this.#sendNow({ ...order, returnImmediately }, card, signal);
    if (answer.kind === 'message') return answer;
    const following = this.#subscription(card);
    for await (const _ of following.events({ taskId: answer.task.id }, signal, answer.task));
    return { kind: 'task', task: following.task ?? answer.task };
  }

  async *#follow(
    beginning: { readonly order: SendingOrder } | { readonly taskId: string },
    card: RemoteCard,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<{ readonly event: RemoteEvent; readonly following: TaskSubscription }, void> {
    let failure: unknown;
    for (const remote of this.#candidates(card)) {
      const following = new TaskSubscription(this.#subscriptionDeps(remote, card));
      try {
        for await (const event of following.events(beginning, signal)) {
          this.#chosen = remote;
          yield { event, following };
        }
        return;
      } catch (error) {
        if (!isOtherVersion(error) || following.task !== undefined) throw error;
        failure = error;
      }
    }
    throw failure;
  }

  #subscription(card: RemoteCard): TaskSubscription {
    const [remote] = this.#candidates(card);
    return new TaskSubscription(this.#subscriptionDeps(remote as RemoteInterface, card));
  }

  async #read<Name extends OrderName, Value>(
    name: Name,
    order: Orders[Name],
    options: RemoteCallOptions,
    read: (exchange: Exchange, value: unknown) => Value,
  ): Promise<Value> {
    return this.#within(options, async (signal) => {
      const card = await this.#cardFor(signal);
      const ask = () =>
        this.#anyWay(card, async (exchange) => read(exchange, await exchange.ask(name, order, signal)));
      return await this.#again(ask, signal);
    });
  }

  // Interfaces

  #cardFor(signal: AbortSignal | undefined): Promise<RemoteCard> {
    return this.#again(() => this.#finder.card(signal), signal);
  }

  /** The interfaces in the order in which they are tried; only one if that has worked before. */
  #candidates(card: RemoteCard): readonly RemoteInterface[] {
    const { prefer, allowedOrigins } = this.#settings;
    const chosen = card.interfaces.find((one) => isSame(one, this.#chosen));
    if (chosen !== undefined) return [chosen];
    const allowed = card.interfaces.filter(({ url }) =>
      [this.url.origin, ...allowedOrigins].includes(url.origin),
    );
    const rank = ({ binding, version }: RemoteInterface): number =>
      (prefer.version !== undefined && version !== prefer.version ? 4 : 0) +
      (prefer.binding !== undefined && binding !== prefer.binding ? 8 : 0) +
      VERSIONS.indexOf(version);
    if (allowed.length > 0) return allowed.toSorted((one, other) => rank(one) - rank(other));
    const elsewhere = [...new Set(card.interfaces.map(({ url }) => url.origin))].join(', ');
    throw invalidCard(
      elsewhere === ''
        ? `${this.url.href} names no interface that can be used`
        : `${this.url.href} sends its callers to ${elsewhere}, which is not among allowedOrigins`,
    );
  }

  /** Tries the interfaces in order, until the other side understands one. Those before it have done nothing. */
  async #anyWay<Value>(card: RemoteCard, run: (exchange: Exchange) => Promise<Value>): Promise<Value> {
    let failure: unknown;
    for (const remote of this.#candidates(card)) {
      try {
        const value = await run(this.#exchange(remote, card));
        this.#chosen = remote;
        return value;
      } catch (error) {
        if (!isOtherVersion(error)) throw error;
        failure = error;
      }
    }
    throw failure;
  }

  #exchange(remote: RemoteInterface, card: RemoteCard): Exchange {
    const { clock, newId, tracer } = this.#seams;
    const announcesOurs = card.delegation !== undefined;
    return new Exchange(remote, {
      calls: this.#calls,
      settings: this.#settings,
      clock,
      announcesOurs,
      newId,
      tracer,
    });
  }

  #subscriptionDeps(remote: RemoteInterface, card: RemoteCard): TaskSubscriptionDeps {
    const { clock, random } = this.#seams;
    const exchange = this.#exchange(remote, card);
    return {
      exchange,
      settings: this.#settings,
      clock,
      random,
      isIdempotent: isIdempotent(card),
      streams: card.streaming,
    };
  }

  // Attempts and limits

  async #again<Value>(
    run: () => Promise<Value>,
    signal: AbortSignal | undefined,
    isSafe: (error: unknown) => boolean = mayPassLater,
  ): Promise<Value> {
    const { attempts, maxBackoffMs } = this.#settings;
    const { clock, random } = this.#seams;
    let mayHaveArrived = false;
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await run();
      } catch (error) {
        const retryAfterMs = retryAfterIn(error);
        const isTooLate = retryAfterMs !== undefined && retryAfterMs > maxBackoffMs;
        if (attempt >= attempts || isTooLate || !isSafe(error)) throw afterOthers(error, mayHaveArrived);
        mayHaveArrived ||= !cannotHaveArrived(error);
        await wait(waitMsAfter(attempt, this.#settings, random, retryAfterMs), clock, signal);
      }
    }
  }

  async #within<Value>(
    options: RemoteCallOptions,
    run: (signal: AbortSignal) => Promise<Value>,
  ): Promise<Value> {
    checkCallOptions(options);
    const { signal, timeoutMs } = options;
    const limit = callLimit(this.url.origin, { signal, timeoutMs }, this.#seams.clock);
    try {
      return await run(limit.signal);
    } catch (error) {
      throw limit.reasonFor(error);
    } finally {
      limit.end();
    }
  }

  async *#streamWithin(
    options: RemoteCallOptions,
    run: (client: RemoteAgentClient, signal: AbortSignal) => AsyncGenerator<RemoteEvent, void>,
  ): AsyncGenerator<RemoteEvent, void> {
    checkCallOptions(options);
    const { signal, timeoutMs } = options;
    const limit = callLimit(this.url.origin, { signal, timeoutMs }, this.#seams.clock);
    try {
      yield* run(this, limit.signal);
    } catch (error) {
      throw limit.reasonFor(error);
    } finally {
      limit.end();
    }
  }
}

/** The newest first. */
const VERSIONS: readonly RemoteInterface['version'][] = ['1.0', '0.3', '0.1'];

const isIdempotent = ({ delegation }: RemoteCard): boolean => delegation?.idempotent === true;

const isSame = (one: RemoteInterface, other: RemoteInterface | undefined): boolean =>
  other !== undefined &&
  one.url.href === other.url.href &&
  one.binding === other.binding &&
  one.version === other.version &&
  one.tenant === other.tenant;

function httpUrl(url: string | URL): URL {
  const parsed = URL.parse(String(url));
  if (parsed?.protocol === 'http:' || parsed?.protocol === 'https:') return parsed;
  throw invalidOptions('url', String(url), 'an http or https URL');
}

const MESSAGE_FIELDS = new Set(['parts', 'messageId', 'taskId', 'contextId', 'metadata', 'delegation']);
const CALL = new Set(['signal', 'timeoutMs', 'returnImmediately', 'historyLength', 'acceptedOutputModes']);

/** Throws INVALID_OPTIONS for a message without parts, or with an unknown field. The other side judges what the parts hold. */
function checkMessage(message: unknown): void {
  checkNames('message', message, MESSAGE_FIELDS);
  const { parts } = message as { parts?: unknown };
  if (!Array.isArray(parts) || parts.length === 0)
    throw invalidOptions('message.parts', parts, 'at least one part');
}

/** Throws INVALID_OPTIONS for an unknown option of a call. */
const checkCallOptions = (options: unknown): void => checkNames('options', options, CALL);

/** Throws INVALID_OPTIONS for an unknown name. No schema, because it runs for every call. */
function checkNames(field: string, value: unknown, names: ReadonlySet<string>): void {
  if (typeof value !== 'object' || value === null) throw invalidOptions(field, value, 'an object');
  for (const name of Object.keys(value))
    if (!names.has(name))
      throw invalidOptions(
        `${field}.${name}`,
        (value as Record<string, unknown>)[name],
        'no option of this name',
      );
}
