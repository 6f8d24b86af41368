import { defineAgent, startSystem, type System } from 'orrery';
import { afterEach, describe, expect, it } from 'vitest';
import { until } from '../fixtures/until.ts';

let system: System;
afterEach(() => system.stop());

const define = (id: string, delivery: 'once' | 'retry') =>
  defineAgent({ id, name: id, version: '1.0.0', description: id, tier: 2, delivery });

/** What was handled, in order. */
let log: string[] = [];

/** Tells the listener what it is told, and fails over the first envelope after that. */
const teller = () => {
  let hasFailed = false;
  return define('teller', 'retry').on('notification', ({ payload }, ctx) => {
    log.push(`teller ${payload}`);
    ctx.tell('listener', payload);
    if (hasFailed) return;
    hasFailed = true;
    throw new Error('too late for what it told');
  });
};
const listener = define('listener', 'once').on(
  'notification',
  ({ payload }) => void log.push(`heard ${payload}`),
);

describe('A second attempt (F-01)', () => {
  it('comes before what was sent later, and what it tells again is not handled again', async () => {
    log = [];
    system = await startSystem({ agents: [teller(), listener] });
    for (const payload of ['one', 'two', 'three'])
      expect(system.tell('teller', payload)).toMatchObject({ delivered: true });
    const counts = await until('everything is settled', async () => {
      const now = await system.conservation();
      return now.inFlight === 0 && now.holds && now;
    });
    expect(log.filter((line) => line.startsWith('teller'))).toEqual([
      'teller one',
      'teller one',
      'teller two',
      'teller three',
    ]);
    expect(log.filter((line) => line.startsWith('heard'))).toEqual(['heard one', 'heard two', 'heard three']);
    expect(counts).toMatchObject({ handled: counts.accepted, deadLettered: 0 });
  });
});
