import type { SystemEvent, SystemEventType } from '../protocol/system-event.ts';
import { eventKind } from './event-kind.ts';
import type { LogLevel, LogLine } from './logger.ts';

/** Those that matter more, or less, than others of their kind. Where it depends on `success`, the first is for a failure. */
const LEVELS: Partial<Record<SystemEventType, LogLevel | readonly [LogLevel, LogLevel]>> = {
  'agent-failed': 'error',
  'agent-parked': 'error',
  'place-died': 'error',
  watchdog: 'error',
  error: 'error',
  fault: 'error',
  journal: ['error', 'info'],
  'agent-crashed': 'warn',
  'agent-restarting': 'warn',
  history: 'warn',
  'dead-letter': 'warn',
  warning: 'warn',
  'process-ended': 'warn',
};

/** How much an event matters to whoever reads the log; undefined for traffic, which is for `inspect`. */
export function levelOf(event: SystemEvent): LogLevel | undefined {
  const { type, success } = event;
  const kind = eventKind(event);
  if (kind === 'security') return 'warn';
  const level = LEVELS[type];
  if (kind === 'traffic' && type !== 'dead-letter') return undefined;
  if (level === undefined) return 'info';
  return typeof level === 'string' ? level : level[success === true ? 1 : 0];
}

/** The line of an event; undefined where it is not for the log. `event` is its type, `time` is the logger's. */
export function logLine(event: SystemEvent): LogLine | undefined {
  const level = levelOf(event);
  if (level === undefined) return undefined;
  const { type, timestamp: atMs, ...facts } = event;
  const { agentId, recipient, targetAgentId, place, errorCode, reason } = facts;
  const about = agentId ?? recipient ?? targetAgentId ?? place;
  const why = [errorCode, reason].filter((part) => part !== undefined).join(' ');
  const message = [type, about, why].filter((part) => part !== undefined && part !== '').join(': ');
  return { level, fields: { event: type, atMs, ...facts }, message };
}
