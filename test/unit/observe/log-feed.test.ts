import { describe, expect, it } from 'vitest';
import { LOG_LINES, LOG_WINDOW_MS, LogFeed } from '../../../runtime/observe/log-feed.ts';
import { levelOf, logLine } from '../../../runtime/observe/log-line.ts';
import type { LogLine } from '../../../runtime/observe/logger.ts';
import type { SystemEvent } from '../../../runtime/protocol/system-event.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';

const crash: SystemEvent = {
  type: 'agent-crashed',
  timestamp: 5,
  agentId: 'mars',
  errorCode: 'ACTOR_DIED',
  reason: 'it threw',
};

function feed() {
  const clock = new FakeClock();
  const lines: LogLine[] = [];
  return { clock, lines, log: new LogFeed({ clock, give: (line) => lines.push(line) }) };
}

describe('A line of the log', () => {
  it('has the facts of its event, and says them in a sentence', () => {
    expect(logLine(crash)).toEqual({
      level: 'warn',
      fields: {
        event: 'agent-crashed',
        atMs: 5,
        agentId: 'mars',
        errorCode: 'ACTOR_DIED',
        reason: 'it threw',
      },
      message: 'agent-crashed: mars: ACTOR_DIED it threw',
    });
  });

  it('is none for traffic, but for dead letters', () => {
    const of = (type: SystemEvent['type'], facts = {}) => levelOf({ type, timestamp: 0, ...facts });
    expect(of('message-sent')).toBeUndefined();
    expect(of('error', { outcome: 'rejected' })).toBeUndefined();
    expect(of('routing-decision', { success: true, security: true })).toBeUndefined();
    expect(of('routing-decision', { success: false, security: true })).toBe('warn');
    expect(of('dead-letter')).toBe('warn');
    expect(of('agent-started')).toBe('info');
    expect(of('agent-failed')).toBe('error');
    expect([of('journal', { success: false }), of('journal', { success: true })]).toEqual(['error', 'info']);
  });
});

describe('The log under a flood', () => {
  it('has so many lines of each type in a window, and says how many it left out', () => {
    const { clock, lines, log } = feed();
    for (let n = 0; n < LOG_LINES + 7; n++) log.add(crash);
    log.add({ type: 'agent-failed', timestamp: 6, agentId: 'mars' });
    expect(lines).toHaveLength(LOG_LINES + 1);
    clock.advance(LOG_WINDOW_MS);
    expect(lines.at(-1)).toEqual({
      level: 'warn',
      fields: { event: 'agent-crashed', leftOut: 7 },
      message: 'agent-crashed: 7 more within 10 s have no lines',
    });
    log.add(crash);
    expect(lines).toHaveLength(LOG_LINES + 3);
  });

  it('waits for nothing once it is closed, and says then what it left out', () => {
    const { clock, lines, log } = feed();
    for (let n = 0; n < LOG_LINES + 1; n++) log.add(crash);
    log.close();
    expect(lines.at(-1)?.fields).toEqual({ event: 'agent-crashed', leftOut: 1 });
    expect(clock.pending).toBe(0);
  });
});
