import { describe, expect, it } from 'vitest';
import { A2AObservability } from '../../../runtime/observe/observability.ts';
import { A2A_MESSAGE_TYPES } from '../../../runtime/protocol/envelope.ts';
import type { A2ALogEvent } from '../../../runtime/protocol/log-event.ts';

const NOTHING = {
  totalMessagesSent: 0,
  totalMessagesReceived: 0,
  messagesByType: Object.fromEntries(A2A_MESSAGE_TYPES.map((type) => [type, 0])),
  averageRoutingLatencyMs: 0,
  errorCount: 0,
  totalToolInvocations: 0,
  toolInvocationsByTool: {},
  averageToolDurationMs: 0,
  toolErrorCount: 0,
};

function observed(...events: Omit<A2ALogEvent, 'timestamp'>[]): A2AObservability {
  const observability = new A2AObservability();
  for (const event of events) observability.emit({ timestamp: 1, ...event });
  return observability;
}

describe('A2AObservability (N-12.2, N-12.3, N-12.4, N-12.5, N-D16)', () => {
  it('starts at nothing', () => {
    expect(observed().getMetrics()).toEqual(NOTHING);
    expect(observed().getRecentEvents()).toEqual([]);
  });

  it('counts envelopes as sent by type, recipients, errors, and averages the routing', () => {
    const observability = observed(
      { type: 'message-sent', messageType: 'request' },
      { type: 'message-received', messageType: 'request' },
      { type: 'message-received', messageType: 'request' },
      { type: 'routing-decision', latencyMs: 1 },
      { type: 'routing-decision', latencyMs: 4 },
      { type: 'routing-decision', security: true },
      { type: 'error', errorCode: 'TIER_VIOLATION' },
    );
    expect(observability.getMetrics()).toEqual({
      ...NOTHING,
      totalMessagesSent: 1,
      totalMessagesReceived: 2,
      messagesByType: { ...NOTHING.messagesByType, request: 1 },
      averageRoutingLatencyMs: 2.5,
      errorCount: 1,
    });
  });

  it('counts tool calls by tool, their failures, and averages their duration', () => {
    const call = (toolName: string, duration: number, success: boolean) =>
      ({ type: 'tool-invocation', toolName, duration, success }) as const;
    const { totalToolInvocations, toolInvocationsByTool, averageToolDurationMs, toolErrorCount, errorCount } =
      observed(
        call('mars.lint', 10, true),
        call('mars.lint', 20, false),
        call('__proto__', 0, true),
      ).getMetrics();
    expect({ totalToolInvocations, averageToolDurationMs, toolErrorCount, errorCount }).toEqual({
      totalToolInvocations: 3,
      averageToolDurationMs: 10,
      toolErrorCount: 1,
      errorCount: 0,
    });
    expect(Object.entries(toolInvocationsByTool)).toEqual([
      ['mars.lint', 2],
      ['__proto__', 1],
    ]);
  });

  it('gives the last events in the order they came, at most as many as asked for', () => {
    const observability = observed(
      { type: 'error', envelopeId: 'a', security: true },
      { type: 'message-sent', envelopeId: 'b' },
      { type: 'error', envelopeId: 'c', security: true },
    );
    expect(observability.getRecentEvents().map(({ envelopeId }) => envelopeId)).toEqual(['a', 'b', 'c']);
    expect(observability.getRecentEvents(2).map(({ envelopeId }) => envelopeId)).toEqual(['b', 'c']);
    expect(observability.getRecentEvents(0)).toEqual([]);
  });

  it('keeps security events when others flood it, and no more of either than it has room for', () => {
    const observability = new A2AObservability({ capacity: 2, securityCapacity: 2 });
    for (const envelopeId of ['s1', 's2', 's3']) {
      observability.emit({ type: 'error', envelopeId, security: true, timestamp: 1 });
    }
    for (let index = 0; index < 100; index++) {
      observability.emit({ type: 'message-sent', envelopeId: `m${index}`, timestamp: 1 });
    }
    const kept = observability.getRecentEvents().map(({ envelopeId }) => envelopeId);
    expect(kept).toEqual(['s2', 's3', 'm98', 'm99']);
    expect(observability.getMetrics()).toMatchObject({ errorCount: 3, totalMessagesSent: 100 });
  });

  it('counts from zero after a reset, and keeps the events', () => {
    const observability = observed({ type: 'message-sent', messageType: 'request' });
    observability.resetMetrics();
    expect(observability.getMetrics()).toEqual(NOTHING);
    expect(observability.getRecentEvents()).toHaveLength(1);
  });
});
