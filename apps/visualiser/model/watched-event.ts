import type { NextTimer } from 'orrery';
import { capped, isRecord, momentIn, textIn } from './narrow.ts';

/** A fact that a machine or a mission says beside its state. */
export type Fact = string | number | boolean;

/**
 * An event as this model keeps it: what is known of it, each field of the type that it must have. Events come from outside, so
 * `type` may be one that nobody here knows, and anything but `type` and `timestamp` may be missing.
 */
export interface WatchedEvent {
  readonly type: string;
  /** Unix milliseconds. */
  readonly timestamp: number;
  readonly place?: string;
  readonly node?: string;
  readonly agentId?: string;
  readonly envelopeId?: string;
  readonly sender?: string;
  readonly recipient?: string;
  readonly messageType?: string;
  readonly correlationId?: string;
  readonly capability?: string;
  readonly routingPath?: string;
  readonly targetAgentId?: string;
  readonly toolName?: string;
  readonly outcome?: string;
  readonly errorCode?: string;
  readonly reason?: string;
  readonly channelId?: string;
  readonly channelStatus?: string;
  readonly proposalId?: string;
  readonly model?: string;
  readonly stack?: string;
  readonly machine?: string;
  readonly actorId?: string;
  readonly event?: string;
  readonly from?: string;
  readonly to?: string;
  readonly mission?: string;
  readonly task?: string;
  readonly step?: string;
  readonly gate?: string;
  readonly duration?: number;
  readonly fraction?: number;
  readonly attempt?: number;
  readonly tokens?: number;
  readonly costUsd?: number;
  readonly count?: number;
  readonly sourceTier?: number;
  readonly targetTier?: number;
  readonly deadlineAtMs?: number;
  readonly success?: boolean;
  readonly security?: boolean;
  readonly taint?: readonly string[];
  readonly failedGuards?: readonly string[];
  readonly nextTimer?: NextTimer;
  readonly facts?: ReadonlyMap<string, Fact>;
}

const SHORT_TEXTS = [
  'place',
  'node',
  'agentId',
  'envelopeId',
  'sender',
  'recipient',
  'messageType',
  'correlationId',
  'capability',
  'routingPath',
  'targetAgentId',
  'toolName',
  'outcome',
  'errorCode',
  'channelId',
  'channelStatus',
  'proposalId',
  'model',
  'machine',
  'actorId',
  'event',
  'from',
  'to',
  'mission',
  'task',
  'step',
  'gate',
] as const;
const NUMBERS = [
  'duration',
  'fraction',
  'attempt',
  'tokens',
  'costUsd',
  'count',
  'sourceTier',
  'targetTier',
  'deadlineAtMs',
] as const;
const FLAGS = ['success', 'security'] as const;

/** The most characters of a name or an id, of a reason, and of a stack. */
const MAX_NAME = 256;
const MAX_REASON = 2_000;
const MAX_STACK = 8_000;
const MAX_LIST = 32;

type Writable = { -readonly [field in keyof WatchedEvent]?: unknown };

/** What is known of an event; undefined if it is none: an event is an object with a type and a time. */
export function readEvent(value: unknown): WatchedEvent | undefined {
  if (!isRecord(value)) return undefined;
  const type = textIn(value, 'type', MAX_NAME);
  const timestamp = momentIn(value, 'timestamp');
  if (type === undefined || type === '' || timestamp === undefined) return undefined;
  const event: Writable = { type, timestamp };
  for (const field of SHORT_TEXTS) {
    const text = value[field];
    if (typeof text === 'string') event[field] = capped(text, MAX_NAME);
  }
  for (const field of NUMBERS) {
    const number = value[field];
    if (typeof number === 'number' && Number.isFinite(number)) event[field] = number;
  }
  for (const field of FLAGS) if (typeof value[field] === 'boolean') event[field] = value[field];
  if (typeof value['reason'] === 'string') event.reason = capped(value['reason'], MAX_REASON);
  if (typeof value['stack'] === 'string') event.stack = capped(value['stack'], MAX_STACK);
  if (typeof value['machine'] === 'string') event.machine = machineIdOf(capped(value['machine'], MAX_NAME));
  if (value['taint'] !== undefined) event.taint = readTexts(value['taint']);
  if (value['failedGuards'] !== undefined) event.failedGuards = readTexts(value['failedGuards']);
  if (value['nextTimer'] !== undefined) event.nextTimer = readTimer(value['nextTimer']);
  if (value['facts'] !== undefined) event.facts = readFacts(value['facts']);
  return event as unknown as WatchedEvent;
}

/** The system's own machines under the ids of their definitions, however they are spelt. */
const MACHINE_IDS: ReadonlyMap<string, string> = new Map([
  ['agent-life', 'agentLife'],
  ['agent-process', 'agentProcess'],
  ['sub-task', 'subTask'],
  ['thread-router', 'threadRouter'],
]);

export const machineIdOf = (name: string): string => MACHINE_IDS.get(name) ?? name;

export const readTexts = (value: unknown): readonly string[] | undefined =>
  Array.isArray(value)
    ? value
        .slice(0, MAX_LIST)
        .filter((one) => typeof one === 'string')
        .map((one) => capped(one, MAX_NAME))
    : undefined;

export function readTimer(value: unknown): NextTimer | undefined {
  if (!isRecord(value)) return undefined;
  const event = textIn(value, 'event', MAX_NAME);
  const atMs = momentIn(value, 'atMs');
  return event === undefined || atMs === undefined ? undefined : { event, atMs };
}

export function readFacts(value: unknown): ReadonlyMap<string, Fact> | undefined {
  if (!isRecord(value)) return undefined;
  const facts = new Map<string, Fact>();
  for (const [name, fact] of Object.entries(value).slice(0, MAX_LIST)) {
    if (typeof fact === 'string') facts.set(capped(name, MAX_NAME), capped(fact, MAX_REASON));
    else if (typeof fact === 'boolean' || (typeof fact === 'number' && Number.isFinite(fact)))
      facts.set(capped(name, MAX_NAME), fact);
  }
  return facts;
}

/** The runtime's own senders, such as `system/host` and `system/loop`, also those of other nodes, are no agents of the team. */
export const isSystemId = (agentId: string): boolean => /(^|\/)system\//.test(agentId);

const REPLY = '~reply';

/** The id of the request that an envelope answers, by the id that the runtime gives an answer. */
export const requestOf = (envelopeId: string): string | undefined =>
  envelopeId.endsWith(REPLY) ? envelopeId.slice(0, -REPLY.length) : undefined;

/** The conversation that an event is about: its correlation id, or the envelope that began it. */
export const conversationIdOf = ({ correlationId, envelopeId }: WatchedEvent): string | undefined =>
  correlationId ?? (envelopeId === undefined ? undefined : (requestOf(envelopeId) ?? envelopeId));
