import fc from 'fast-check';
import {
  type AgentTier,
  type A2AMessageType,
  type RoutingResult,
  startSystem,
  type System,
  type SystemEvent,
} from 'orrery';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HOPS, way } from '../fixtures/agents/hops.ts';
import { add, work } from '../fixtures/agents/living.ts';
import { heard, type SpeakerProfile, speak } from '../fixtures/agents/speaking.ts';
import { speakerModule } from '../fixtures/speaker-team.ts';
import { scrapedMetrics } from '../fixtures/metrics-page.ts';
import { agent, rejection, until } from '../fixtures/until.ts';
import { arbMessageType } from '../property/arbitraries/envelope.ts';

let system: System;
/** Everything that happened, as `inspect` streamed it. */
const events: SystemEvent[] = [];
/** Which thread an agent lives in. */
let rows: ReadonlyMap<string, string>;

const profile = (id: string, tier: AgentTier): SpeakerProfile => ({
  id,
  tier,
  sandboxId: undefined,
  offers: ['words.plan'],
});
const SPEAKERS = [profile('near', 2), profile('far', 2), profile('up', 1), profile('down', 3)];

beforeAll(async () => {
  system = await startSystem({
    agents: [
      ...SPEAKERS.map((speaker) => ({ module: speakerModule(speaker) })),
      agent('hopper', { instances: ['a'] }),
      agent('hopper', { instances: ['b'] }),
      agent('living'),
      agent('living', { instances: ['other'] }),
    ],
    supervision: { intensity: { maxRestarts: 100 } },
  });
  await system.inspect((event) => events.push(event));
  rows = new Map((await system.roster()).map(({ id, place }) => [id, place]));
});
afterAll(() => system.stop());

/** The numbers of a Prometheus text, by name and labels. */
async function scrape(): Promise<Map<string, number>> {
  const text = await system.metrics();
  const samples = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    samples.map((line) => {
      const at = line.lastIndexOf(' ');
      return [line.slice(0, at), Number(line.slice(at + 1))];
    }),
  );
}

const quiet = () =>
  until('everything is settled', async () => {
    const now = await system.conservation();
    return now.inFlight === 0 && now.holds && now;
  });

/** What has been counted since `mark`. */
interface Counted {
  readonly sent: Record<string, number>;
  readonly received: number;
  readonly replies: number;
  readonly refused: number;
  readonly security: number;
  readonly settled: number;
}

async function counted(): Promise<Counted> {
  await quiet();
  const numbers = await scrape();
  const get = (name: string) => numbers.get(name) ?? Number.NaN;
  const sent = [...numbers].filter(([name]) => name.startsWith('orrery_envelopes_sent_total'));
  return {
    sent: Object.fromEntries(sent.map(([name, value]) => [/"(.*)"/.exec(name)?.[1], value])),
    received: get('orrery_envelopes_accepted_total'),
    replies: get('orrery_replies_total'),
    refused: get('orrery_refusals_total'),
    security: get('orrery_security_events_total'),
    settled: [...numbers]
      .filter(([name]) => name.startsWith('orrery_envelopes_settled_total'))
      .reduce((sum, [, value]) => sum + value, 0),
  };
}

describe('The counts of a run over three threads (N-12.1, N-12.3, N-12.4)', () => {
  it('are exact, in the metrics and in the stream of events', async () => {
    const arbStep = fc.record({
      from: fc.constantFrom('host', 'near', 'far', 'up', 'down'),
      to: fc.constantFrom('near', 'far', 'up', 'down', '*', 'nobody'),
      type: arbMessageType(),
      why: fc.option(fc.constant('needed'), { nil: undefined }),
    });
    const before = await counted();
    const [seen] = [events.length];
    const expected = {
      sent: { ...before.sent },
      received: before.received,
      replies: before.replies,
      refused: before.refused,
      security: before.security,
    };
    const tally = (
      type: A2AMessageType,
      { delivered, recipients, refused }: RoutingResult,
      isKnown: boolean,
    ): void => {
      if (delivered || recipients !== undefined) expected.sent[type] = (expected.sent[type] ?? 0) + 1;
      expected.received += recipients?.length ?? (delivered ? 1 : 0);
      const count = refused?.length ?? (delivered ? 0 : 1);
      expected.refused += count;
      if (isKnown) expected.security += count;
    };
    const asked = (): void => {
      for (const type of ['request', 'response'] as const)
        expected.sent[type] = (expected.sent[type] ?? 0) + 1;
      expected.received += 1;
      expected.replies += 1;
    };
    let sends = 0;
    for (const { from, to, type, why } of fc.sample(arbStep, { numRuns: 400, seed: 2026 })) {
      sends += 1;
      const options = why === undefined ? {} : { justification: why };
      if (from === 'host') tally(type, system.tell(to, { sends }, { type, ...options }), to !== 'nobody');
      else {
        const speech = {
          recipient: to,
          type,
          payload: { sends },
          correlationId: `count-${sends}`,
          ...options,
        };
        const result = await system.ask({ agent: from, capability: speak }, speech);
        asked();
        tally(type, result, to !== 'nobody');
      }
    }
    const after = await counted();
    expect({ ...after, settled: undefined }).toEqual({ ...expected, settled: undefined });
    expect(after.settled).toBe(after.received);

    const counts = (type: SystemEvent['type'], from = seen) =>
      events.slice(from).filter((event) => event.type === type);
    const sumOf = ({ sent }: Counted): number => Object.values(sent).reduce((sum, count) => sum + count, 0);
    // Each thread tells of its own, in its own time.
    await until(
      'the events are streamed',
      () =>
        counts('envelope-settled').length >= after.settled - before.settled &&
        counts('message-received').length >= after.received - before.received &&
        counts('message-sent').length >= sumOf(after) - sumOf(before),
    );
    const sentByType: Record<string, number> = { ...before.sent };
    for (const { messageType = '' } of counts('message-sent'))
      sentByType[messageType] = (sentByType[messageType] ?? 0) + 1;
    expect(sentByType).toEqual(after.sent);
    expect(counts('message-received')).toHaveLength(after.received - before.received);
    expect(counts('envelope-settled')).toHaveLength(after.settled - before.settled);
    expect(counts('routing-decision').filter(({ success }) => success === false)).toHaveLength(
      after.refused - before.refused,
    );
    const places = new Set(events.slice(seen).map(({ place }) => place));
    for (const place of ['host', 'worker-1', 'worker-2']) expect(places).toContain(place);
  });

  it('say how long routing took on average', async () => {
    const numbers = await scrape();
    const [seconds, routings] = ['orrery_routing_seconds_total', 'orrery_routings_measured_total'].map(
      (name) => numbers.get(name) ?? 0,
    );
    expect(routings).toBeGreaterThan(10);
    expect(((seconds ?? 0) / (routings ?? 1)) * 1_000).toBeGreaterThan(0);
    expect(((seconds ?? 0) / (routings ?? 1)) * 1_000).toBeLessThan(50);
  });
});

describe('The stream of events', () => {
  it('is complete for an ask that causes another, and in order in each thread', async () => {
    await quiet();
    const from = events.length;
    await system.ask(
      { agent: 'a', capability: HOPS.one },
      { way: way('b.two') },
      { correlationId: 'streamed' },
    );
    const mine = () => events.slice(from).filter(({ correlationId }) => correlationId === 'streamed');
    await until('everything is streamed', () => mine().length >= 10);
    await quiet();
    const told = mine().map(({ place, type, sender, recipient, messageType, targetAgentId, outcome }) =>
      [place, type, `${sender}>${recipient}`, messageType, targetAgentId, outcome]
        .filter((part) => part !== undefined)
        .join(' '),
    );
    const [placeOfA, placeOfB] = ['a', 'b'].map((id) => rows.get(id));
    const inOrderAt = (place: string | undefined) => told.filter((line) => line.startsWith(`${place} `));
    expect(inOrderAt('host')).toEqual([
      'host message-sent system/host>a request',
      'host routing-decision system/host>a request a',
    ]);
    expect(inOrderAt(placeOfA)).toEqual([
      `${placeOfA} message-received system/host>a request a`,
      `${placeOfA} message-sent a>b request`,
      `${placeOfA} routing-decision a>b request b`,
      `${placeOfA} message-sent a>system/host response`,
      `${placeOfA} envelope-settled system/host>a request a handled`,
    ]);
    expect(inOrderAt(placeOfB)).toEqual([
      `${placeOfB} message-received a>b request b`,
      `${placeOfB} message-sent b>a response`,
      `${placeOfB} envelope-settled a>b request b handled`,
    ]);
    expect(placeOfA).not.toBe(placeOfB);
    expect(told).toHaveLength(10);
  });

  it('has every envelope that went within one thread too', async () => {
    await quiet();
    const from = events.length;
    const target = { agent: 'near', capability: speak };
    await system.ask(target, {
      recipient: 'up',
      type: 'notification',
      payload: 1,
      correlationId: 'beside',
      justification: 'x',
    });
    const mine = () => events.slice(from).filter(({ correlationId }) => correlationId === 'beside');
    await until('everything is streamed', () => mine().some(({ type }) => type === 'envelope-settled'));
    expect(rows.get('near')).toBe(rows.get('up'));
    expect(
      mine()
        .map(({ type, targetAgentId, security }) => `${type} ${targetAgentId} ${security}`)
        .sort(),
    ).toEqual(
      [
        'envelope-settled up undefined',
        'message-received up undefined',
        'message-sent undefined undefined',
        'routing-decision up true',
        'routing-decision up undefined',
      ].sort(),
    );
  });

  it('ends for a listener that leaves, and goes on for the others', async () => {
    const seen: SystemEvent[] = [];
    const leave = await system.inspect((event) => seen.push(event));
    await system.ask({ agent: 'b', capability: HOPS.one }, { way: [] }, { correlationId: 'both' });
    await until('it is heard', () => seen.some(({ correlationId }) => correlationId === 'both'));
    await leave();
    const count = seen.length;
    await system.ask({ agent: 'b', capability: HOPS.one }, { way: [] }, { correlationId: 'one' });
    await until('the other hears it', () => events.some(({ correlationId }) => correlationId === 'one'));
    expect(seen).toHaveLength(count);
  });

  it.each([
    ['every event', {}],
    ['events in order', { inOrder: true }],
    ['so many a second', { eventsPerSecond: 1_000, inOrder: true }],
  ])('is heard to its last by a listener that leaves: %s', async (name, options) => {
    for (let round = 0; round < 20; round++) {
      const correlationId = `${name} ${round}`;
      const seen: SystemEvent[] = [];
      const leave = await system.inspect((event) => seen.push(event), options);
      await system.ask({ agent: 'b', capability: HOPS.one }, { way: way('a.two') }, { correlationId });
      await leave();
      const types = seen.filter((event) => event.correlationId === correlationId).map(({ type }) => type);
      expect(types.filter((type) => type === 'message-sent')).toHaveLength(4);
      expect(types.filter((type) => type === 'envelope-settled')).toHaveLength(2);
    }
  });

  it('is streamed by a thread, too, that was just being started when somebody began to listen', async () => {
    await using starting = await startSystem();
    const seen: SystemEvent[] = [];
    const started = starting.start([agent('living')]);
    await starting.inspect((event) => seen.push(event));
    await started;
    await starting.ask({ agent: 'living', capability: add }, 1, { correlationId: 'first' });
    const isTaken = ({ correlationId, type }: SystemEvent): boolean =>
      correlationId === 'first' && type === 'message-received';
    await until('its thread has shown what it took in', () => seen.some(isTaken));
  });

  it('is remembered without a listener: recentEvents, in time order, at most as many as asked for', async () => {
    await system.ask(
      { agent: 'b', capability: HOPS.one },
      { way: way('a.two') },
      { correlationId: 'recent' },
    );
    await quiet();
    const recent = await system.recentEvents(100_000);
    const types = recent.filter(({ correlationId }) => correlationId === 'recent').map(({ type }) => type);
    expect(types.filter((type) => type === 'message-sent')).toHaveLength(4);
    expect(types.filter((type) => type === 'message-received')).toHaveLength(2);
    const times = recent.map(({ timestamp }) => timestamp);
    expect(times).toEqual([...times].sort((one, other) => one - other));
    // What is rare has its share of the last, so that traffic does not push it out.
    const last = await system.recentEvents(7);
    expect(last).toHaveLength(7);
    expect(last.at(-1)).toEqual((await system.recentEvents(100_000)).at(-1));
    expect(last.some(({ type }) => type === 'agent-started')).toBe(true);
    expect(last.map(({ timestamp }) => timestamp)).toEqual(
      last.map(({ timestamp }) => timestamp).toSorted((one, other) => one - other),
    );
  });
});

describe('The thread of a conversation (N-2.4, N-P08)', () => {
  const steps = async (correlationId: string) =>
    (await system.thread(correlationId)).map(
      ({ sender, recipient, type }) => `${sender}>${recipient} ${type}`,
    );

  it('is exactly its envelopes, requests, answers and notifications, in time order', async () => {
    const both = ['talk-1', 'talk-2'].map((correlationId) =>
      system.ask({ agent: 'a', capability: HOPS.one }, { way: way('b.one a.two') }, { correlationId }),
    );
    await Promise.all(both);
    await system.ask(
      { agent: 'b', capability: HOPS.three },
      { way: way('a.four'), by: 'tell' },
      { correlationId: 'talk-1' },
    );
    system.tell('near', 'that was it', { correlationId: 'talk-1' });
    await quiet();
    for (const correlationId of ['talk-1', 'talk-2']) {
      const envelopes = await system.thread(correlationId);
      expect(new Set(envelopes.map((envelope) => envelope.correlationId))).toEqual(new Set([correlationId]));
      expect(new Set(envelopes.map(({ id }) => id)).size).toBe(envelopes.length);
      const times = envelopes.map(({ timestamp }) => timestamp);
      expect(times).toEqual([...times].sort((one, other) => one - other));
      for (const { type, metadata, timestamp } of envelopes) {
        if (type !== 'response') continue;
        const asked = envelopes.findIndex(({ id }) => id === metadata?.inReplyTo);
        expect(asked).toBeGreaterThanOrEqual(0);
        expect(timestamp).toBeGreaterThanOrEqual(envelopes[asked]?.timestamp ?? Number.NaN);
      }
    }
    const nested = [
      'system/host>a request',
      'a>b request',
      'b>a request',
      'a>b response',
      'b>a response',
      'a>system/host response',
    ];
    expect((await steps('talk-2')).sort()).toEqual([...nested].sort());
    const later = [
      'system/host>b request',
      'b>a notification',
      'b>system/host response',
      'system/host>near notification',
    ];
    expect((await steps('talk-1')).sort()).toEqual([...nested, ...later].sort());
  });

  it('has what was said, and the answers at the time they were given', async () => {
    const startedMs = Date.now();
    await system.ask(
      { agent: 'living', capability: work },
      { other: 'other', times: 20 },
      { correlationId: 'long' },
    );
    const envelopes = await system.thread('long');
    expect(envelopes).toHaveLength(42);
    const first = envelopes.find(({ sender }) => sender === 'system/host');
    const last = envelopes.find(({ recipient }) => recipient === 'system/host');
    expect(first?.payload).toEqual({ other: 'other', times: 20 });
    expect((last?.timestamp ?? 0) - (first?.timestamp ?? 0)).toBeGreaterThanOrEqual(35);
    expect(last?.timestamp).toBeLessThanOrEqual(Date.now());
    expect(last?.payload).toBeGreaterThanOrEqual(startedMs);
  });

  it('has the error of an ask that was declined', async () => {
    const wrong = { ...add, id: 'living.unknown' };
    const asked = system.ask({ agent: 'living', capability: wrong }, 1, { correlationId: 'declined' });
    expect((await rejection(asked)).code).toBe('REFUSED');
    await quiet();
    expect(await steps('declined')).toEqual(['system/host>living request', 'living>system/host error']);
  });

  it('is empty for one that nobody had', async () => {
    expect(await system.thread('nothing')).toEqual([]);
  });
});

describe('The metrics', () => {
  it('add up, while envelopes move too: accepted is what is settled and what is in flight (F-01)', async () => {
    const working = system.ask({ agent: 'living', capability: work }, { other: 'other', times: 50 });
    for (let n = 0; n < 20; n++) {
      for (let m = 0; m < 30; m++) system.tell('near', m);
      const numbers = await scrape();
      expect(numbers.get('orrery_conservation_holds')).toBe(1);
    }
    await working;
    await quiet();
    const numbers = await scrape();
    const settled = [...numbers].filter(([name]) => name.startsWith('orrery_envelopes_settled_total'));
    const sum = settled.reduce(
      (total, [, value]) => total + value,
      numbers.get('orrery_envelopes_in_flight') ?? Number.NaN,
    );
    expect(numbers.get('orrery_envelopes_accepted_total')).toBe(sum);
    expect(numbers.get('orrery_envelopes_in_flight')).toBe(0);
  });

  it('are Prometheus text: every sample is a number and has a type', async () => {
    for (const { name, type } of scrapedMetrics(await system.metrics()).values())
      expect(type, name).toMatch(name.endsWith('_total') ? /^counter$/ : /^(gauge|histogram)$/);
    for (const value of (await scrape()).values()) expect(Number.isFinite(value)).toBe(true);
  });

  it('count agents by status, what waits for each, and restarts', async () => {
    const numbers = await scrape();
    expect(numbers.get('orrery_agents{status="running"}')).toBe(8);
    expect(numbers.get('orrery_mailbox_waiting{agent="near"}')).toBe(0);
    expect(numbers.get('orrery_agent_restarts_total{agent="near"}')).toBe(0);
    expect(await system.ask({ agent: 'near', capability: heard }, undefined)).not.toHaveLength(0);
  });
});
