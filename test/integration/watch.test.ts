import { startSystem, type SystemEvent, type Team } from 'orrery';
import { apiKeys, newApiKey, sharedToken } from 'orrery/admission';
import type { Serving, WatchState } from 'orrery/gateway';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bear } from '../fixtures/agents/frail.ts';
import { open, passed } from '../fixtures/agents/gate.ts';
import { add } from '../fixtures/agents/living.ts';
import { streamedEvents } from '../fixtures/event-stream.ts';
import { agent, rejection, until } from '../fixtures/until.ts';

const TOKEN = 'token-of-the-operator-of-this-test';
const UNLOCK = 'second-token-with-which-one-may-act';
const OPERATOR = {
  id: 'token:operator',
  kind: 'user',
  roles: ['operator'],
  tier: 3,
  trust: { score: 1, source: 'this test' },
} as const;
const clock = { now: () => Date.now() };
const sender = newApiKey({ kind: 'service', tier: 3, roles: [] });

let system: Team;
let serving: Serving;

beforeAll(async () => {
  system = await startSystem({
    agents: [agent('gate', { options: undefined }), agent('frail'), agent('living')].map(({ module }) => ({
      module,
    })),
    supervision: { intensity: { maxRestarts: 100 } },
  });
  serving = await system.serve({
    a2a: false,
    mcp: false,
    authenticators: [sharedToken(TOKEN, OPERATOR), apiKeys([sender.record], { clock })],
    watch: { unlockToken: UNLOCK },
  });
});
afterAll(() => system.stop());

const as = (token: string, more: Record<string, string> = {}) => ({
  headers: { authorization: `Bearer ${token}`, ...more },
});

const get = (path: string, init: RequestInit = as(TOKEN)): Promise<Response> =>
  fetch(`${serving.url}${path}`, init);

const openStreams = async (): Promise<number> => {
  const text = await (await get('/metrics')).text();
  return Number(/^orrery_gateway_open_streams (\d+)$/m.exec(text)?.[1]);
};

describe('A system that is watched (F-08)', () => {
  it('tells the steps of all machines: of an agent’s own, of its cell and of its life', async () => {
    const steps: SystemEvent[] = [];
    const stop = await system.inspect((event) => {
      if (event.type === 'machine-step') steps.push(event);
    });
    await system.ask({ agent: 'gate', capability: open }, undefined);
    await rejection(system.ask(bear, { how: 'throws' }));
    const has = (agentId: string, machine: string, from: string, to: string) =>
      steps.some((s) => s.agentId === agentId && s.machine === machine && s.from === from && s.to === to);
    await until('the steps are told', () => has('frail', 'agentLife', 'starting', 'running'));
    expect(has('gate', 'gate', 'closed', 'opening')).toBe(true);
    expect(has('gate', 'gate', 'opening', 'open')).toBe(true);
    expect(has('frail', 'agentLife', 'running', 'restarting')).toBe(true);
    expect(steps.some(({ agentId, machine }) => agentId === 'frail' && machine === 'cell')).toBe(true);
    await stop();
  });

  it('leaves out whole conversations under load, and says how many events of traffic these were', async () => {
    const events: SystemEvent[] = [];
    const stop = await system.inspect((event) => events.push(event), { eventsPerSecond: 100, inOrder: true });
    const asks = 3_000;
    for (let at = 0; at < asks; at += 100)
      await Promise.all(
        Array.from({ length: 100 }, () => system.ask({ agent: 'living', capability: add }, 1)),
      );
    const noted = new Set(['message-sent', 'message-received', 'envelope-settled']);
    const count = (): number =>
      events.reduce(
        (sum, event) =>
          sum + (event.type === 'events-left-out' ? (event.count ?? 0) : noted.has(event.type) ? 1 : 0),
        0,
      );
    // Sent, received, settled, and answered.
    await until('everything is told or counted', () => count() === 4 * asks);
    expect(events.length).toBeLessThan(2 * asks);
    await stop();
  });

  it('is seen by whoever has the role of an operator, and by nobody else', async () => {
    expect((await get('/watch/state', {})).status).toBe(401);
    expect((await get('/watch/state', as('wrong'))).status).toBe(401);
    for (const path of ['/watch/state', '/watch/events', '/watch/machines', '/watch/conversations/x'])
      expect([path, (await get(path, { headers: { 'x-api-key': sender.key } })).status]).toEqual([path, 403]);
    const state = (await (await get('/watch/state')).json()) as WatchState;
    expect(state).toMatchObject({ format: 'orrery-watch', version: 1, canUnlock: true });
    const gate = state.agents.find(({ id }) => id === 'gate');
    expect(gate).toMatchObject({ capacity: 1_000, supervision: { restarts: 0, maxRestarts: 100 } });
    expect(gate?.actors).toContainEqual({ id: 'gate', machine: 'gate', state: 'open' });
    expect(state.places.map(({ id }) => id)).toEqual(expect.arrayContaining(['host', 'control', 'worker-1']));
  });

  it('shows its state first, and then what happens, in one order', async () => {
    const response = await get('/watch/events');
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    const seen: SystemEvent[] = [];
    let first: string | undefined;
    for await (const { event, data } of streamedEvents(response)) {
      if (first === undefined) {
        first = event;
        void system.ask({ agent: 'living', capability: add }, 1);
      }
      if (event === 'events') seen.push(...(data as SystemEvent[]));
      if (seen.some(({ type }) => type === 'envelope-settled')) break;
    }
    expect(first).toBe('state');
    const settled = seen.find(({ type }) => type === 'envelope-settled');
    const types = seen.filter(({ envelopeId }) => envelopeId === settled?.envelopeId).map(({ type }) => type);
    expect(types).toEqual(['message-sent', 'routing-decision', 'message-received', 'envelope-settled']);
    await until('nobody watches any more', async () => (await openStreams()) === 0);
  });

  it('draws the machines of the system and those of its agents', async () => {
    const { machines } = (await (await get('/watch/machines')).json()) as {
      machines: { id: string; agentId?: string; states: { id: string }[] }[];
    };
    expect(machines.map(({ id }) => id)).toEqual(expect.arrayContaining(['agentLife', 'proposer', 'gate']));
    const gate = machines.find(({ agentId }) => agentId === 'gate');
    expect(gate?.states.map(({ id }) => id)).toEqual([
      'closed',
      'opening',
      'open',
      'locking',
      'comparing',
      'gone',
    ]);
  });

  it('shows the envelopes of a conversation without what is secret', async () => {
    const correlationId = 'a <b>conversation</b> / "1"';
    await system.ask({ agent: 'gate', capability: passed }, undefined, { correlationId });
    const answer = await get(`/watch/conversations/${encodeURIComponent(correlationId)}`);
    const { envelopes } = (await answer.json()) as { envelopes: { payload: unknown; type: string }[] };
    expect(envelopes.map(({ type, payload }) => [type, payload])).toEqual([
      ['request', null],
      ['response', { opened: 11, state: 'open' }],
    ]);
  });

  it('sends a dead letter again for whoever has the second token, and for nobody else', async () => {
    const correlationId = 'a death';
    await rejection(system.ask(bear, { how: 'throws' }, { correlationId }));
    const letter = await until('there is its letter', async () =>
      (await system.deadLetters()).find(({ envelope }) => envelope?.correlationId === correlationId),
    );
    const path = `/watch/dead-letters/${encodeURIComponent(String(letter.id))}/replay`;
    const post = (init: RequestInit, at = path): Promise<Response> => get(at, { method: 'POST', ...init });
    const before = (await system.deadLetters()).length;
    expect((await post(as(TOKEN))).status).toBe(403);
    expect((await post(as(TOKEN, { 'x-orrery-unlock': TOKEN }))).status).toBe(403);
    expect((await post({ headers: { 'x-api-key': sender.key, 'x-orrery-unlock': UNLOCK } })).status).toBe(
      403,
    );
    expect((await post({ headers: { 'x-orrery-unlock': UNLOCK } })).status).toBe(401);
    expect(
      (await post(as(TOKEN, { 'x-orrery-unlock': UNLOCK }), '/watch/dead-letters/none/replay')).status,
    ).toBe(409);
    expect(await system.deadLetters()).toHaveLength(before);
    const answer = await post(as(TOKEN, { 'x-orrery-unlock': UNLOCK }));
    expect(answer.status).toBe(200);
    const { envelopeId } = (await answer.json()) as { envelopeId: string };
    await until('it is dead again', async () =>
      (await system.deadLetters()).some(({ id }) => id === envelopeId),
    );
    expect(await system.conservation()).toMatchObject({ holds: true });
  });

  it('serves no file that is not the page’s', async () => {
    for (const path of [
      '../package.json',
      '..%2fpackage.json',
      '%2e%2e/package.json',
      '.env',
      'a/../../x.js',
    ])
      expect([path, (await get(`/visualiser/${path}`, {})).status]).toEqual([path, 404]);
  });

  it('shows other nodes beside this one, their events in one order with its own, and says when one is gone', async () => {
    await using far = await startSystem({ agents: [agent('living')] });
    const there = await far.serve({
      a2a: false,
      mcp: false,
      authenticators: [sharedToken(TOKEN, OPERATOR)],
      watch: {},
    });
    await using near = await startSystem({ agents: [agent('gate')] });
    const here = await near.serve({
      a2a: false,
      mcp: false,
      authenticators: [sharedToken(TOKEN, OPERATOR)],
      watch: { nodes: [{ url: there.url, token: TOKEN }] },
    });
    const response = await fetch(`${here.url}/watch/events`, as(TOKEN));
    const node = new URL(there.url).host;
    const places = new Set<string>();
    const handlers = new Set<string>();
    let nodes: WatchState['nodes'];
    let isAsking = false;
    for await (const { event, data } of streamedEvents(response)) {
      if (event === 'state') {
        ({ nodes } = data as WatchState);
        if (!isAsking && nodes?.[0]?.agents?.[0]?.id === `${node}/living`) {
          isAsking = true;
          await far.ask({ agent: 'living', capability: add }, 1);
          await near.ask({ agent: 'gate', capability: open }, undefined);
        }
      }
      if (event !== 'events') continue;
      for (const { type, place, node: from = 'here', targetAgentId = '' } of data as SystemEvent[]) {
        places.add(`${from}: ${place}`);
        if (type === 'message-received') handlers.add(targetAgentId);
      }
      if (places.has(`${node}: ${node}/worker-1`) && places.has('here: worker-1') && handlers.size === 2)
        break;
    }
    // Two nodes that were given no name are both "local": the other one goes by its address.
    expect(nodes).toMatchObject([{ url: there.url, node, agents: [{ id: `${node}/living` }] }]);
    expect([...handlers].sort()).toEqual([`${node}/living`, 'gate'].sort());
    await far.stop();
    const state = async () =>
      (await (await fetch(`${here.url}/watch/state`, as(TOKEN))).json()) as WatchState;
    expect((await state()).nodes).toBeUndefined();
    const again = await fetch(`${here.url}/watch/events`, as(TOKEN));
    await until('its trouble is said', async () => (await state()).nodes?.[0]?.trouble !== undefined);
    await again.body?.cancel();
  });

  it('tells nothing and asks nothing when the last one has gone, however they went', async () => {
    const leaving = new AbortController();
    const response = await get('/watch/events', { ...as(TOKEN), signal: leaving.signal });
    const messages = streamedEvents(response);
    await messages.next();
    leaving.abort();
    await messages.next().catch(() => undefined);
    await until('nobody watches any more', async () => (await openStreams()) === 0);
  });
});
