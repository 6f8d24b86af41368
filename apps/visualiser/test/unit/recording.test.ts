import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  Recording,
  readEvent,
  readState,
  type Scene,
  sentenceOf,
  troublesOf,
  type WatchedEvent,
} from '../../model/index.ts';
import { event, eventValues, requestEvents } from '../fixtures/events.ts';

function traceOf(values: readonly unknown[], options = {}): Recording {
  const { recording, reader } = Recording.ofTrace(options);
  const header = {
    format: 'orrery-trace',
    version: 1,
    mission: 'mission',
    agents: [{ id: 'mars', name: 'MARS' }],
  };
  const text = [header, ...values].map((value) => `${JSON.stringify(value)}\n`).join('');
  reader.push(new TextEncoder().encode(text));
  reader.end();
  return recording;
}

/** All that a scene says, as data that compares. */
function told(scene: Scene): unknown {
  const plain = (value: unknown): unknown => {
    if (value instanceof Map) return [...value].map(([key, one]) => [key, plain(one)]);
    if (Array.isArray(value)) return value.map(plain);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).flatMap(([key, one]) => (key === 'owner' ? [] : [[key, plain(one)]])),
    );
  };
  const { agents, places, peers, machines, inFlight, edges, proposals, mission, totals, rates, spending } =
    scene;
  const { deadLetters, security, failures, lives, position, atMs, leftOut } = scene;
  return plain({
    ...{ agents, places, peers, machines, inFlight, edges, proposals, mission, totals, rates, spending },
    ...{ deadLetters, security, failures, lives, position, atMs, leftOut },
  });
}

describe('a recording', () => {
  it('has the same scene at a position however one comes to it', () => {
    fc.assert(
      fc.property(
        fc.array(eventValues, { minLength: 1, maxLength: 60 }),
        fc.array(fc.nat(60), { minLength: 1, maxLength: 8 }),
        fc.integer({ min: 1, max: 7 }),
        (values, positions, checkpointEach) => {
          const recording = traceOf(values, { checkpointEach, checkpoints: 4 });
          for (const position of positions) {
            const to = Math.min(position, recording.length);
            expect(told(recording.sceneAt(to))).toEqual(told(traceOf(values.slice(0, to)).latest));
          }
          expect(told(recording.latest)).toEqual(told(traceOf(values).latest));
        },
      ),
      { numRuns: 150 },
    );
  });

  it('never throws on JSON of any kind, as an event, a state or an envelope', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.jsonValue(), eventValues), { maxLength: 20 }), (values) => {
        const recording = Recording.live();
        for (const value of values) {
          const read = readEvent(value);
          if (read !== undefined) recording.appendEvents([read]);
          const state = readState({ ...(value as object), format: 'orrery-watch', version: 1, nowMs: 1 });
          if (state !== undefined) recording.appendState(state);
        }
        sentenceOf(recording.latest);
        for (const { id } of recording.conversations()) recording.conversation(id);
      }),
      { numRuns: 200 },
    );
  });

  it('finds the moment by its time, also where places disagree about the order', () => {
    const recording = traceOf([5, 3, 9, 9, 20].map((timestamp) => ({ type: 'x', timestamp })));
    expect([0, 5, 8, 9, 19, 20].map((atMs) => recording.positionAtMs(atMs))).toEqual([0, 2, 2, 4, 4, 5]);
    expect(recording.density(3)).toEqual([4, 0, 1]);
  });

  it('keeps of a live team what there is room for, and says what was dropped', () => {
    const recording = Recording.live({ maxLive: 100, checkpointEach: 10 });
    const events: WatchedEvent[] = [];
    for (let at = 0; at < 1_000; at++)
      events.push(event('progress', at, { agentId: `a${at % 5}`, correlationId: `c${at}` }));
    for (const one of events) recording.appendEvents([one]);
    expect(recording.length).toBe(1_000);
    expect(recording.first).toBeGreaterThan(880);
    expect(recording.length - recording.first).toBeLessThanOrEqual(100);
    expect(recording.conversationCount).toBeLessThanOrEqual(101);
    expect(recording.entryAt(recording.first - 1)).toBeUndefined();
    expect(recording.sceneAt(0).position).toBe(recording.first);
    expect(recording.sceneAt(950).totals.events).toBe(950);
    expect(recording.conversation('c999')?.rows).toHaveLength(1);
  });

  it('lists conversations by agent and by text, the last first', () => {
    const recording = Recording.live();
    recording.appendEvents(requestEvents('venus', 'mars', { correlationId: 'first', atMs: 10 }));
    recording.appendEvents(
      requestEvents('venus', 'pluto', { correlationId: 'second', atMs: 20, outcome: 'rejected' }),
    );
    expect(recording.conversations().map(({ id, troubles }) => [id, troubles])).toEqual([
      ['second', 1],
      ['first', 0],
    ]);
    expect(recording.conversations({ agentId: 'mars' }).map(({ id }) => id)).toEqual(['first']);
    expect(recording.conversations({ text: 'SECO' }).map(({ id }) => id)).toEqual(['second']);
  });

  it('is not led astray by names that objects have of themselves', () => {
    const recording = traceOf([
      { type: '__proto__', timestamp: 1, agentId: '__proto__' },
      { type: 'agent-failed', timestamp: 2, agentId: '__proto__', reason: 'x' },
      { type: 'mission', timestamp: 3, step: 'constructor', task: '__proto__', facts: { ['__proto__']: 1 } },
    ]);
    expect(recording.latest.agents.get('__proto__')?.status).toBe('failed');
    expect(recording.latest.mission?.tasks.get('__proto__')?.state).toBe('waiting');
    expect(troublesOf(recording.latest)[0]).toMatchObject({ kind: 'gave up', agentId: '__proto__' });
    expect(({} as { status?: string }).status).toBeUndefined();
  });
});
