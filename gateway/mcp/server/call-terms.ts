import type { Clock } from '../../../runtime/protocol/seams.ts';
import type { CallOptions } from '../../../runtime/protocol/tool-service.ts';
import { type CallerRights, callingAs } from '../../team/caller-rights.ts';
import { mayOnlyRead } from './catalogue.ts';
import type { McpCall } from './mcp-call.ts';
import type { ParsedMcpOptions } from './mcp-options.ts';

export interface CallTermsDeps {
  readonly options: ParsedMcpOptions;
  readonly clock: Pick<Clock, 'now'>;
  readonly rights: CallerRights;
}

/** Levels of a log message (RFC 5424). */
const LEVELS = new Set(['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency']);

/**
 * The options of a call in the caller's name. What an agent reports goes to the client as a log message: `{log: {level, data,
 * logger?}}` names its level, and any other report is sent as it is, at level `info`.
 */
export function callTerms(
  { principal, signal, progressToken, ...call }: McpCall,
  { options, clock, rights }: CallTermsDeps,
): CallOptions {
  const taint = rights.taintOf(principal, 'mcp');
  return {
    as: callingAs(principal),
    readOnly: mayOnlyRead(options, principal),
    ...(taint === undefined ? {} : { taint }),
    deadlineAtMs: clock.now() + options.callMs,
    signal,
    ...(call.log === undefined ? {} : { onReport: reportTeller(call.log) }),
    ...(progressToken === undefined ? {} : { onProgress: progressTeller(call, progressToken) }),
  };
}

/** Sends progress to a client. A fraction that does not grow is left out, because MCP wants it to grow. */
function progressTeller(
  { notify }: Pick<McpCall, 'notify'>,
  progressToken: string | number,
): NonNullable<CallOptions['onProgress']> {
  let told = -1;
  return ({ fraction, note }) => {
    if (fraction <= told) return;
    told = fraction;
    const message = note === undefined ? {} : { message: note };
    notify('notifications/progress', { progressToken, progress: fraction, total: 1, ...message });
  };
}

const reportTeller =
  (log: NonNullable<McpCall['log']>) =>
  (report: unknown): void => {
    const said = (report as { log?: { level?: unknown; data?: unknown; logger?: unknown } } | null)?.log;
    if (said === undefined || said === null || !LEVELS.has(String(said.level)))
      return log('info', report, undefined);
    log(String(said.level), said.data ?? null, typeof said.logger === 'string' ? said.logger : undefined);
  };
