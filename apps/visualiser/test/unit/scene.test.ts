import { describe, expect, it } from 'vitest';
import {
  groupedTroubles,
  Recording,
  readState,
  type Scene,
  sentenceOf,
  type Trouble,
  troublesOf,
  type WatchedEvent,
  waitsOf,
} from '../../model/index.ts';
import { event, requestEvents } from '../fixtures/events.ts';

function after(...events: readonly (WatchedEvent | readonly WatchedEvent[])[]): Recording {
  const recording = Recording.live();
  recording.appendEvents(events.flat());
  return recording;
}

const sceneOf = (...events: readonly (WatchedEvent | readonly WatchedEvent[])[]): Scene =>
  after(...events).latest;
const kinds = (troubles: readonly Trouble[]): string[] =>
  troubles.map(({ level, kind }) => `${level} ${kind}`);

function stateWith(fields: object) {
  const state = readState({ format: 'orrery-watch', version: 1, nowMs: 50_000, ...fields });
  if (state === undefined) throw new Error('not a state');
  return state;
}

describe('a scene (F-08)', () => {
  it('has an envelope in the mailbox until it is taken, and in hand until it has its outcome', () => {
    const opened = [event('agent-started', 1, { agentId: 'mars', place: 'worker-1' })];
    const mars = (until: 'sent' | 'received' | 'settled') =>
      sceneOf(opened, requestEvents('venus', 'mars', { until })).agents.get('mars');
    expect(mars('sent')).toMatchObject({ waiting: 1, inHand: undefined });
    expect(mars('received')).toMatchObject({
      waiting: 0,
      inHand: { capability: 'work.do', sender: 'venus' },
    });
    expect(mars('settled')).toMatchObject({ waiting: 0, inHand: undefined, handled: 1 });
  });

  it('keeps what is in hand while the agent answers something else at once', () => {
    const work = requestEvents('venus', 'mars', { atMs: 10, until: 'received' });
    const lease = requestEvents('loop', 'mars', { atMs: 20 }).map((one) => ({
      ...one,
      messageType: 'task-accept',
    }));
    expect(sceneOf(work, lease).agents.get('mars')?.inHand).toMatchObject({ sender: 'venus' });
  });

  it('does not mind in which order two threads tell of one envelope', () => {
    const [sent, received, settled] = requestEvents('venus', 'mars');
    const turned = [received, settled, sent].filter((one) => one !== undefined);
    const scene = sceneOf(turned);
    expect(scene.inFlight.size).toBe(0);
    expect(scene.agents.get('mars')).toMatchObject({ waiting: 0, handled: 1 });
  });

  it('says who waits for whom, and no longer when the answer is there', () => {
    const scene = sceneOf(requestEvents('venus', 'mars', { until: 'received' }));
    expect(waitsOf(scene)).toMatchObject([
      { waiter: 'venus', awaited: 'mars', capability: 'work.do', isBegun: true },
    ]);
    expect(waitsOf(sceneOf(requestEvents('venus', 'mars')))).toEqual([]);
  });

  it('tells a circle of waits from agents that only wait', () => {
    const events = [
      requestEvents('a', 'b', { atMs: 1_000, until: 'received' }),
      requestEvents('b', 'c', { atMs: 1_100, until: 'received' }),
      requestEvents('c', 'a', { atMs: 1_200, until: 'received' }),
      [event('progress', 9_000, { agentId: 'x' })],
    ];
    expect(troublesOf(sceneOf(...events))[0]).toMatchObject({
      kind: 'circle of waits',
      text: 'a waits for b waits for c waits for a',
    });
    expect(kinds(troublesOf(sceneOf(...events.slice(0, 2), events[3] ?? [])))).toEqual([
      'note wait',
      'note wait',
    ]);
  });

  it('ranks what is wrong, the worst first', () => {
    const scene = sceneOf(
      requestEvents('venus', 'mars', { atMs: 1_000, until: 'received' }),
      event('dead-letter', 2_000, {
        envelopeId: 'x',
        sender: 'a',
        recipient: 'b',
        errorCode: 'MAILBOX_FULL',
        reason: 'it was full',
      }),
      event('dead-letter', 2_001, {
        envelopeId: 'y',
        sender: 'a',
        recipient: 'b',
        errorCode: 'MAILBOX_FULL',
        reason: 'it was full',
      }),
      event('routing-decision', 3_000, {
        sender: 'a',
        recipient: 'b',
        errorCode: 'TIER_DENIED',
        security: true,
        reason: 'no',
      }),
      event('agent-failed', 4_000, { agentId: 'pluto', reason: 'too often' }),
      event('place-died', 4_001, { place: 'worker-2' }),
      event('events-left-out', 9_000, { place: 'worker-1', count: 12 }),
    );
    const troubles = troublesOf(scene);
    expect(kinds(troubles)).toEqual([
      'bad thread',
      'bad gave up',
      'warning security',
      'warning dead letter',
      'note wait',
      'note left out',
    ]);
    expect(troubles.find(({ kind }) => kind === 'dead letter')?.text).toBe(
      '2 letters to b reached nobody: it was full',
    );
  });

  it('says in a sentence what a team does, how far its mission is, who waits, and what is wrong', () => {
    const begun = [
      event('mission', 500, { mission: 'audit', step: 'mission-started' }),
      event('mission', 510, { mission: 'audit', step: 'task-started', task: 'types', agentId: 'mars' }),
      event('mission', 520, { mission: 'audit', step: 'task-accepted', task: 'docs', agentId: 'venus' }),
    ];
    const work = requestEvents('system/loop', 'mars', { atMs: 1_000, until: 'received' });
    const call = requestEvents('mars', 'venus', { atMs: 2_000, until: 'received' });
    expect(sentenceOf(sceneOf(begun, work, call, event('progress', 4_500, { agentId: 'mars' })))).toBe(
      'Mars and venus work at “audit”, of 2 agents; 1 of 2 tasks is done; the mission loop waits for mars, which waits for venus (2.5 s); nothing is wrong.',
    );
    expect(sentenceOf(sceneOf())).toBe('Nothing has been heard of any agent yet; nothing is wrong.');
    expect(sentenceOf(sceneOf(event('agent-failed', 1, { agentId: 'mars', reason: 'x' })))).toContain(
      'one thing is wrong: mars gave up',
    );
  });

  it('follows a task through its gates and attempts', () => {
    const step = (name: string, at: number, more: object = {}) =>
      event('mission', at, { mission: 'audit', step: name, task: 'types', agentId: 'mars', ...more });
    const scene = sceneOf(
      step('task-started', 1),
      step('task-submitted', 2),
      step('gate', 3, { gate: 'verified', success: false, reason: 'no line' }),
      step('task-retried', 4),
      step('gate', 5, { gate: 'verified', success: true }),
      step('task-accepted', 6, { facts: { tokens: 12 } }),
    );
    const task = scene.mission?.tasks.get('types');
    expect(task).toMatchObject({ state: 'accepted', attempts: 2, agentId: 'mars' });
    expect(task?.gates).toEqual([{ name: 'verified', passed: true, reason: undefined, atMs: 5 }]);
    expect(task?.facts.get('tokens')).toBe(12);
  });

  it('knows the tasks of a recorded mission before they are begun, and the states that they are in', () => {
    const step = (name: string, at: number, task: string, facts: object) =>
      event('mission', at, { mission: 'audit', step: name, task, facts });
    const scene = sceneOf(
      event('mission', 1, { mission: 'audit', step: 'mission-started', facts: { tasks: 2 } }),
      step('task-changed', 1, 'types', { state: 'waiting', attempts: 0, title: 'Check types' }),
      step('task-changed', 1, 'docs', { state: 'waiting', attempts: 0, title: 'Check docs' }),
      step('task-changed', 2, 'types', { state: 'offered', attempts: 1 }),
    );
    expect([...(scene.mission?.tasks.values() ?? [])]).toMatchObject([
      { id: 'types', title: 'Check types', state: 'offered', attempts: 1 },
      { id: 'docs', title: 'Check docs', state: 'waiting', attempts: 0 },
    ]);
    expect(sentenceOf(scene)).toContain('0 of 2 tasks are done');
  });

  it('has each state machine in its state, with its steps, timer, failed guards and facts', () => {
    const about = { machine: 'sub-task', actorId: 's/1', agentId: 'sun' };
    const scene = sceneOf(
      event('machine-step', 1, {
        ...about,
        event: 'go',
        from: 'open',
        to: 'assigned',
        facts: { assignee: 'mars' },
        nextTimer: { event: 'lease.ended', atMs: 99 },
      }),
      event('machine-step', 2, {
        ...about,
        event: 'report',
        from: 'assigned',
        to: 'assigned',
        failedGuards: ['isHolder'],
      }),
      event('machine-step', 3, {
        ...about,
        event: 'lease.ended',
        from: 'assigned',
        to: 'assigned',
        facts: { assignee: 'venus' },
      }),
    );
    const [machine] = scene.machines.values();
    expect(machine).toMatchObject({ machine: 'subTask', state: 'assigned', sinceMs: 1, reassignments: 1 });
    expect(machine?.guards).toEqual([{ atMs: 2, event: 'report', guards: ['isHolder'] }]);
    expect(machine?.steps.map(({ event: name }) => name)).toEqual(['go', 'lease.ended']);
  });

  it('ends the machine of an agent with its actor, and goes on with its life', () => {
    const about = { agentId: 'mars', actorId: 'mars', event: 'go', from: '', to: 'working' };
    const scene = sceneOf(
      event('machine-step', 1, { ...about, machine: 'planet' }),
      event('machine-step', 1, { ...about, machine: 'negotiator' }),
      event('agent-crashed', 2, { agentId: 'mars', reason: 'x' }),
    );
    expect(
      [...scene.machines.values()].map(({ machine, isOver, state }) => [machine, isOver, state]),
    ).toEqual([
      ['planet', true, 'working'],
      ['negotiator', false, 'working'],
      ['agentLife', false, 'restarting'],
    ]);
  });

  it('believes a state of the team: its agents, mailboxes, actors, letters, and what is on its way', () => {
    const recording = after(
      requestEvents('venus', 'mars', { until: 'sent', atMs: 10 }),
      event('events-left-out', 20, { place: 'worker-1', count: 5 }),
      event('machine-step', 30, {
        machine: 'proposer',
        actorId: 'p1',
        agentId: 'mars',
        from: '',
        to: 'pending.open',
      }),
    );
    recording.appendState(
      stateWith({
        agents: [
          {
            id: 'mars',
            name: 'MARS',
            version: '1',
            status: 'parked',
            waiting: 4,
            capacity: 9,
            restarts: 2,
            parked: { reason: 'other code' },
            actors: [
              {
                id: 'p2',
                machine: 'proposer',
                state: 'assigned',
                facts: { bids: 2, capability: 'types.check' },
              },
            ],
          },
        ],
        account: { accepted: 5, handled: 5, inFlight: 0, holds: false },
        deadLetters: {
          total: 7,
          last: [
            {
              sender: 'a',
              recipient: 'b',
              type: 'request',
              code: 'X',
              reason: 'y',
              atMs: 40,
              canReplay: true,
              id: 'd',
            },
          ],
        },
      }),
    );
    const scene = recording.latest;
    expect(scene.agents.get('mars')).toMatchObject({
      name: 'MARS',
      status: 'parked',
      waiting: 4,
      capacity: 9,
    });
    expect(scene.inFlight.size).toBe(0);
    expect([...scene.machines.values()].map(({ actorId, isOver }) => [actorId, isOver])).toEqual([
      ['p1', true],
      ['p2', false],
    ]);
    expect(scene.proposals.get('p2')).toMatchObject({
      state: 'assigned',
      bids: 2,
      capability: 'types.check',
    });
    expect(scene.deadLetterTotal).toBe(7);
    expect(kinds(troublesOf(scene))).toEqual(expect.arrayContaining(['bad parked', 'bad account']));
    recording.appendState(stateWith({ nowMs: 51_000, agents: [{ id: 'venus', version: '1' }] }));
    expect([...recording.latest.agents.keys()]).toEqual(['venus']);
  });

  it('has the agents and threads of other nodes that are watched too, and says when one is silent', () => {
    const node = (fields: object) => ({ url: 'http://127.0.0.1:4711', node: 'rome', agents: [], ...fields });
    const mars = { id: 'rome/mars', name: 'MARS', version: '1', status: 'running', place: 'rome/worker-1' };
    const state = (atMs: number, ...nodes: object[]) =>
      stateWith({
        nowMs: atMs,
        node: 'oslo',
        agents: [
          { id: 'mars', version: '1', place: 'worker-1' },
          // Whoever asks it from here has it among its own, too.
          { id: 'rome/mars', version: '1', place: 'host' },
        ],
        places: [{ id: 'worker-1', kind: 'worker' }],
        account: { accepted: 0, inFlight: 0 },
        nodes,
      });
    const recording = after();
    recording.appendState(
      state(1_000, node({ agents: [mars], places: [{ id: 'rome/worker-1', kind: 'worker' }] })),
    );
    recording.appendEvents([
      ...requestEvents('mars', 'rome/mars', { atMs: 2_000, until: 'sent' }),
      event('message-received', 2_010, {
        node: 'rome',
        place: 'rome/worker-1',
        envelopeId: 'elsewhere',
        sender: 'rome/venus',
        recipient: 'rome/mars',
      }),
      event('dead-letter', 2_020, { node: 'rome', envelopeId: 'd', sender: 'rome/mars', recipient: 'x' }),
      event('mission', 2_030, { node: 'rome', mission: 'theirs', step: 'mission-started' }),
    ]);
    const there = recording.latest.agents.get('rome/mars');
    expect(there).toMatchObject({ node: 'rome', place: 'rome/worker-1', name: 'MARS' });
    expect(recording.latest.agents.get('mars')).toMatchObject({ node: undefined, place: 'worker-1' });
    expect(recording.latest.places.get('rome/worker-1')).toMatchObject({ kind: 'worker', node: 'rome' });
    expect(recording.latest.mission).toBeUndefined();
    // What the state counts is of this node: that of others stays.
    recording.appendState(state(9_000, node({ agents: [mars], trouble: 'it answers 503' })));
    expect([...recording.latest.inFlight.keys()]).toEqual(['elsewhere']);
    expect(recording.latest.deadLetters.map(({ id }) => id)).toEqual(['d']);
    expect(troublesOf(recording.latest).map(({ text }) => text)).toContain(
      'Nothing new is known of the node rome: it answers 503',
    );
    recording.appendState(state(10_000));
    expect(recording.latest.agents.get('rome/mars')).toMatchObject({ place: 'host' });
    expect(recording.latest.nodes.size).toBe(0);
  });

  it('adds up what models cost, until the team itself says what is spent', () => {
    const call = (at: number) => event('model-call', at, { agentId: 'mars', tokens: 100, costUsd: 0.5 });
    const recording = after(call(1), call(2));
    expect(recording.latest.spending).toMatchObject({ tokens: 200, costUsd: 1 });
    recording.appendState(
      stateWith({ mission: { name: 'm', tasks: [], budget: { tokens: { spent: 150, limit: 500 } } } }),
    );
    recording.appendEvents([call(60_000)]);
    expect(recording.latest.spending).toMatchObject({ tokens: 150, tokenLimit: 500 });
  });
});

describe('many troubles of one kind (F-08)', () => {
  it('are one where there is little room', () => {
    const events = ['a', 'b', 'c', 'd', 'e'].map((agentId, at) =>
      event('agent-failed', at, { agentId, reason: 'x' }),
    );
    const troubles = troublesOf(sceneOf(events, event('place-died', 9, { place: 'worker-1' })));
    expect(troubles).toHaveLength(6);
    expect(groupedTroubles(troubles).map(({ text }) => text)).toEqual([
      'The thread worker-1 died and is not back',
      'e gave up: x; and 4 more like this',
    ]);
  });
});

describe('a wait (F-08)', () => {
  it('is no warning while whoever is awaited says how far it is', () => {
    const work = requestEvents('venus', 'mars', { until: 'received' });
    const quiet = sceneOf(work, event('progress', 60_000, { agentId: 'venus' }));
    expect(kinds(troublesOf(quiet))).toContain('warning wait');
    const telling = sceneOf(work, event('progress', 60_000, { agentId: 'mars', fraction: 0.5 }));
    expect(kinds(troublesOf(telling))).toEqual(['note wait']);
  });
});
