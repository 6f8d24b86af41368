import { z } from 'zod';
import { bindMethods } from '../protocol/bind-methods.ts';
import { A2A_MESSAGE_TYPES, A2AMessageType } from '../protocol/envelope.ts';
import type { A2ALogEvent } from '../protocol/log-event.ts';
import { EventRing } from './event-ring.ts';
import { ToolCounts } from './tool-counts.ts';
import { eventKind } from './event-kind.ts';
import type { SystemEvent } from '../protocol/system-event.ts';

/** Counts of a router and its tools since the last reset (seed 1). Averages are 0 before the first event. */
export const A2AMetrics = z
  .object({
    totalMessagesSent: z.int().nonnegative(),
    totalMessagesReceived: z.int().nonnegative(),
    messagesByType: z.record(A2AMessageType, z.int().nonnegative()),
    averageRoutingLatencyMs: z.number().nonnegative(),
    errorCount: z.int().nonnegative(),
    totalToolInvocations: z.int().nonnegative(),
    toolInvocationsByTool: z.record(z.string(), z.int().nonnegative()),
    averageToolDurationMs: z.number().nonnegative(),
    toolErrorCount: z.int().nonnegative(),
  })
  .readonly();
export type A2AMetrics = z.infer<typeof A2AMetrics>;

/** How many events are kept; security events have room of their own. @default 1_000 each */
export interface ObservabilityOptions {
  readonly capacity?: number;
  readonly securityCapacity?: number;
}

interface Numbered {
  readonly at: number;
  readonly event: A2ALogEvent;
}

/**
 * The events of a router and its tools, and the counts they add up to (seed 1).
 *
 * `message-sent` counts an envelope once, `message-received` each recipient that accepted it; types are counted as sent.
 * Latency is averaged over the routing decisions that carry one, duration over the tool calls.
 */
export class A2AObservability {
  readonly #events: EventRing<Numbered>;
  readonly #security: EventRing<Numbered>;
  #next = 0;
  #counts = new Counts();

  static {
    bindMethods(A2AObservability.prototype);
  }

  constructor({ capacity = 1_000, securityCapacity = 1_000 }: ObservabilityOptions = {}) {
    this.#events = new EventRing(capacity);
    this.#security = new EventRing(securityCapacity);
  }

  emit(event: A2ALogEvent): void {
    this.#counts.add(event);
    const ring = event.security === true ? this.#security : this.#events;
    ring.push({ at: this.#next++, event });
  }

  getMetrics(): A2AMetrics {
    return this.#counts.metrics();
  }

  /** The last events in the order they were emitted, at most `limit` of them. */
  getRecentEvents(limit = Number.POSITIVE_INFINITY): A2ALogEvent[] {
    const events = [...this.#events.toArray(), ...this.#security.toArray()].sort(
      (one, other) => one.at - other.at,
    );
    return events.slice(Math.max(0, events.length - limit)).map(({ event }) => event);
  }

  /** Counts from zero again; the events stay. */
  resetMetrics(): void {
    this.#counts = new Counts();
  }
}

class Counts {
  #sent = 0;
  #received = 0;
  readonly #sentByType = new Map<A2AMessageType, number>(A2A_MESSAGE_TYPES.map((type) => [type, 0]));
  #routings = 0;
  #routingMs = 0;
  #errors = 0;
  #calls = 0;
  readonly #callsByTool = new ToolCounts();
  #callMs = 0;
  #failedCalls = 0;

  add(event: A2ALogEvent): void {
    switch (event.type) {
      case 'message-sent':
        this.#sent += 1;
        if (event.messageType !== undefined) increment(this.#sentByType, event.messageType);
        return;
      case 'message-received':
        this.#received += 1;
        return;
      case 'routing-decision':
        if (event.latencyMs === undefined) return;
        this.#routings += 1;
        this.#routingMs += event.latencyMs;
        return;
      case 'error':
        this.#errors += 1;
        return;
      case 'tool-invocation':
        this.#calls += 1;
        this.#callMs += event.duration ?? 0;
        if (event.success === false) this.#failedCalls += 1;
        if (event.toolName !== undefined) this.#callsByTool.add(event.toolName);
    }
  }

  metrics(): A2AMetrics {
    return {
      totalMessagesSent: this.#sent,
      totalMessagesReceived: this.#received,
      messagesByType: Object.fromEntries(this.#sentByType) as Record<A2AMessageType, number>,
      averageRoutingLatencyMs: average(this.#routingMs, this.#routings),
      errorCount: this.#errors,
      totalToolInvocations: this.#calls,
      toolInvocationsByTool: Object.fromEntries(this.#callsByTool.entries()),
      averageToolDurationMs: average(this.#callMs, this.#calls),
      toolErrorCount: this.#failedCalls,
    };
  }
}

const average = (total: number, count: number): number => (count === 0 ? 0 : total / count);

function increment<Key>(counts: Map<Key, number>, key: Key): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

/** A fourth of the events may be of security, a fourth of lives, if there are that many. */
const SHARES = 4;

/**
 * The last `limit` of these events, which are in time order, and stay so: but traffic does not push out what is rare. The
 * newest security events have a fourth of the room for themselves, and those about lives another.
 */
export function lastEvents(events: readonly SystemEvent[], limit: number): readonly SystemEvent[] {
  if (events.length <= limit) return events;
  const share = Math.floor(limit / SHARES);
  const left = { security: share, life: share, traffic: 0 };
  const isReserved = new Set<number>();
  for (let at = events.length - 1; at >= 0; at--) {
    const kind = eventKind(events[at] as SystemEvent);
    if (left[kind] === 0) continue;
    left[kind] -= 1;
    isReserved.add(at);
  }
  let room = limit - isReserved.size;
  const kept: SystemEvent[] = [];
  for (let at = events.length - 1; at >= 0; at--) {
    if (!isReserved.has(at) && room === 0) continue;
    if (!isReserved.has(at)) room -= 1;
    kept.push(events[at] as SystemEvent);
  }
  return kept.reverse();
}
