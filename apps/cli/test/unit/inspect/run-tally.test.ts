import { describe, expect, it } from 'vitest';
import { RunTally } from '../../../inspect/run-tally.ts';
import { outcome, request, told } from '../../fixtures/told.ts';

describe('what is kept of a run', () => {
  it('stays of one size, and keeps what is worth telling', () => {
    const tally = new RunTally();
    tally.take(told('error', 1, { correlationId: 'the-bad-one', reason: 'out of luck' }));
    for (let at = 0; at < 30_000; at++)
      tally.take(told('message-sent', at, { envelopeId: `e${at}~reply`, correlationId: `c${at}` }));
    for (let at = 0; at < 300; at++)
      tally.take(told('error', 40_000 + at, { agentId: `a${at}`, reason: 'x' }));
    expect(tally.conversations.length).toBeLessThanOrEqual(20_000);
    expect(tally.conversations[0]).toMatchObject({ id: 'the-bad-one', wrong: 1 });
    expect(tally.mishaps).toHaveLength(200);
    expect(tally.unlisted).toBe(101);
  });

  it('counts the same mishap of one agent once, with the first text and how often', () => {
    const tally = new RunTally();
    for (const at of [10, 20, 30])
      tally.take(told('agent-crashed', at, { agentId: 'mars', reason: `out of luck ${at}` }));
    tally.take(told('agent-failed', 40, { agentId: 'mars', reason: 'too often' }));
    expect(
      tally.mishaps.map(({ kind, text, times, firstMs, lastMs }) => [kind, text, times, firstMs, lastMs]),
    ).toEqual([
      ['gave up', 'mars: too often', 1, 40, 40],
      ['crash', 'mars: out of luck 10', 3, 10, 30],
    ]);
  });

  it('keeps the ten longest waits, ended or not', () => {
    const tally = new RunTally();
    for (let at = 0; at < 20; at++) {
      for (const event of request(`r${at}`, 'mars', at * 10_000)) tally.take(event);
      tally.take(outcome(`r${at}`, 'mars', at * 10_000 + (at + 1) * 100));
    }
    for (const event of request('open', 'venus', 195_000)) tally.take(event);
    tally.take(told('progress', 200_000, { agentId: 'venus' }));
    const { longestWaits } = tally;
    expect(longestWaits).toHaveLength(10);
    expect(longestWaits[0]).toMatchObject({ awaited: 'venus', ms: 5_000, ended: undefined });
    expect(longestWaits[1]).toMatchObject({ awaited: 'mars', ms: 2_000, ended: 'answered' });
  });
});
