import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineAgent, startSystem, type System, type SystemEvent } from 'orrery';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { record, relay } from '../fixtures/agents/numbers.ts';
import { offend } from '../fixtures/agents/offender.agent.ts';
import { agent, rejection, until } from '../fixtures/until.ts';

const KILLS = 4;
const ENVELOPES = 1_200;

const folder = mkdtempSync(join(tmpdir(), 'orrery-told-'));
const file = join(folder, 'recorded');
const events: SystemEvent[] = [];
let system: System;

beforeAll(async () => {
  const superior = defineAgent({
    id: 'superior',
    name: 'SUPERIOR',
    version: '1.0.0',
    description: 'Is above',
    tier: 0,
  });
  system = await startSystem({
    agents: [
      agent('once-recorder'),
      agent('relay', { instances: ['far'] }),
      agent('offender'),
      superior.on('notification', () => undefined),
    ],
    supervision: { backOff: { firstMs: 1, maxMs: 1 }, intensity: { maxRestarts: 100 } },
  });
  await system.inspect((event) => events.push(event));
});
afterAll(async () => {
  await system.stop();
  rmSync(folder, { recursive: true });
});

const settled = () =>
  until('everything is settled', async () => {
    const counts = await system.conservation();
    return counts.inFlight === 0 && counts.holds ? counts : undefined;
  });

const size = (): number => (existsSync(file) ? statSync(file).size : 0);

/** Envelopes that reach the recorder from another thread and from this one, and kills of its thread among them. */
async function sendUnderFire(): Promise<void> {
  const part = Math.ceil(ENVELOPES / (KILLS + 1));
  for (let from = 0; from < ENVELOPES; from += part) {
    const before = size();
    for (let n = from; n < from + part; n++) {
      const told =
        n % 2 === 0
          ? system.tell({ agent: 'recorder', capability: record as never }, { file, spinMs: 0 })
          : system.tell({ agent: 'far', capability: relay as never }, { file, spinMs: 0 });
      if (!told.delivered) throw new Error(told.error);
    }
    if (from + part >= ENVELOPES) return;
    await until('it records', () => size() > before);
    await system.terminate('worker-1');
  }
}

/** How many events there are of each outcome. */
const outcomes = () => {
  const counts = { handled: 0, rejected: 0, expired: 0, deadLettered: 0 };
  for (const { type, outcome } of events) {
    if (type !== 'envelope-settled' || outcome === undefined) continue;
    counts[outcome === 'dead-lettered' ? 'deadLettered' : outcome] += 1;
  }
  return counts;
};

describe('Who inspects a system whose threads are killed', () => {
  it('sees each outcome and each dead letter as often as they are counted (N-12.1, F-01)', async () => {
    await sendUnderFire();
    const { handled, rejected, expired, deadLettered } = await settled();
    const lettersTold = () => events.filter(({ type }) => type === 'dead-letter');
    await until(
      'all of it is told',
      () =>
        outcomes().handled + outcomes().deadLettered >= handled + deadLettered &&
        lettersTold().length >= deadLettered,
    );
    expect(outcomes()).toEqual({ handled, rejected, expired, deadLettered });
    const letters = await system.deadLetters();
    expect(letters.length).toBe(deadLettered);
    const told = lettersTold().map(({ envelopeId }) => envelopeId);
    expect(told.sort()).toEqual(letters.map(({ id }) => id).sort());
  }, 120_000);

  it('finds what killed them among the last events, after a thousand of traffic (N-D16)', async () => {
    const last = await system.recentEvents();
    expect(last.length).toBe(1_000);
    expect(last.filter(({ type }) => type === 'place-died')).toHaveLength(KILLS);
    expect(last.filter(({ type }) => type === 'place-started').length).toBeGreaterThanOrEqual(KILLS);
  });

  it('sees what a policy refused to a handler that ends its thread the moment after (N-10.2, N-E03)', async () => {
    const failed = await rejection(system.ask({ agent: 'offender', capability: offend }, { to: 'superior' }));
    expect(failed.code).toBe('ACTOR_DIED');
    const isRefusal = ({ security, sender, success }: SystemEvent): boolean =>
      security === true && sender === 'offender' && success === false;
    await until('the refusal is told', () => events.some(isRefusal));
    const [refusal, ...more] = (await system.recentEvents()).filter(isRefusal);
    expect(refusal).toMatchObject({ targetAgentId: 'superior', errorCode: 'ESCALATION_REQUIRED' });
    expect(more).toEqual([]);
    expect(events.filter(isRefusal)).toHaveLength(1);
  });
});
