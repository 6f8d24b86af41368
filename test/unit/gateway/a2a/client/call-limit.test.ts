import { describe, expect, it } from 'vitest';
import { MAX_TIMER_MS } from '../../../../../runtime/protocol/milliseconds.ts';
import { cancelled } from '../../../../../runtime/protocol/errors.ts';
import { callLimit } from '../../../../../gateway/a2a/client/call-limit.ts';
import { A2AClient } from '../../../../../gateway/xpr/client/a2a-client.ts';
import { FakeClock } from '../../../../fixtures/fake-clock.ts';

const limitOf = (timeoutMs: number | undefined, clock = new FakeClock()) => ({
  clock,
  limit: callLimit('http://b', { signal: undefined, timeoutMs }, clock),
});

describe('How long a call may take', () => {
  it.each([2 ** 31, Number.MAX_SAFE_INTEGER, Number.POSITIVE_INFINITY])(
    'is no longer than a timer waits, and no shorter, when it is %d',
    (timeoutMs) => {
      const { clock, limit } = limitOf(timeoutMs);
      expect(clock.nextInMs).toBe(MAX_TIMER_MS);
      clock.advance(MAX_TIMER_MS);
      expect(limit.signal.aborted).toBe(true);
      expect(limit.reasonFor(cancelled('it'))).toMatchObject({ code: 'DEADLINE_EXCEEDED' });
    },
  );

  it('is what was said, or nothing', () => {
    expect(limitOf(250).clock.nextInMs).toBe(250);
    expect(limitOf(-1).clock.nextInMs).toBe(1);
    expect(limitOf(undefined).clock.pending).toBe(0);
  });

  it('is refused when it is no number', () => {
    expect(() => limitOf(Number.NaN)).toThrow('timeoutMs is NaN');
    expect(() => limitOf('5' as never)).toThrow('timeoutMs is "5"');
  });

  it('of an XPR agent is refused when no timer waits so long', () => {
    expect(() => new A2AClient('https://a.example', { timeout: 2 ** 31 })).toThrow('timeout is 2147483648');
    expect(() => new A2AClient('https://a.example', { timeout: MAX_TIMER_MS })).not.toThrow();
  });
});

describe('What an XPR agent answers', () => {
  it('is no answer when it is nested so deeply that whoever reads it runs out of stack', async () => {
    const deep = `{"jsonrpc":"2.0","id":"1","result":{"id":"t","status":{"state":"working"},"metadata":{"a":${'['.repeat(50_000)}${']'.repeat(50_000)}}}}`;
    const client = new A2AClient('https://a.example', {
      fetch: async () => new Response(deep),
      newId: () => '1',
    });
    await expect(client.getTask('t')).rejects.toMatchObject({ data: { reason: 'INVALID_ANSWER' } });
    await expect(client.getAgentCard()).rejects.toMatchObject({ data: { reason: 'INVALID_ANSWER' } });
  });
});
