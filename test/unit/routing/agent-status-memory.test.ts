import { describe, expect, it } from 'vitest';
import { systemParty } from '../../../runtime/protocol/policy.ts';
import {
  AgentStatusMemory,
  newAgentStatusMemory,
  READINESS,
  type Readiness,
} from '../../../runtime/routing/agent-status-memory.ts';
import { Grants } from '../../../runtime/routing/grants.ts';
import { MailJudge, Unrouted } from '../../../runtime/routing/mail-judge.ts';
import { deltaOf, RoutingTable } from '../../../runtime/routing/routing-table.ts';
import type { AgentRow } from '../../../runtime/protocol/agent-row.ts';
import { AgentTable, type AgentEntry } from '../../../runtime/control/agent-table.ts';
import { Mail, NO_ASK, typeIndex } from '../../../runtime/mailbox/mail.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { cardOf, offers } from './standalone-team.ts';

const { ended, awaited, live } = READINESS;

/** Two threads' views of one memory. */
function wordsOf(capacity?: number): {
  memory: SharedArrayBuffer;
  here: AgentStatusMemory;
  there: AgentStatusMemory;
} {
  const memory = newAgentStatusMemory(capacity);
  return { memory, here: new AgentStatusMemory(memory), there: new AgentStatusMemory(memory) };
}

const profileOf = (id: string): AgentRow['profile'] => {
  const card = cardOf(id, offers('work'));
  return {
    card,
    capabilityIds: ['work'],
    delivery: 'once',
    mailboxCapacity: 10,
    lazy: false,
    durable: false,
  };
};

describe('The words of agents (N-8.2)', () => {
  it('say of each slot, to every thread, whether it can take mail and its load, also after they have grown', () => {
    const { here, there } = wordsOf();
    here.reach(3);
    here.write(0, live, 7);
    here.write(2, awaited, 0);
    here.reach(50_000);
    here.write(49_999, live, 2 ** 40);
    expect([0, 1, 2].map((slot) => [there.readinessOf(slot), there.loadOf(slot)])).toEqual([
      [live, 7],
      [ended, 0],
      [awaited, 0],
    ]);
    expect([there.readinessOf(49_999), there.loadOf(49_999)]).toEqual([live, 2 ** 29 - 1]);
  });

  it('have one for a few agents more than there is room for: those count as live and idle', () => {
    const { here } = wordsOf(2);
    here.reach(5);
    here.write(4, awaited, 3);
    expect([here.readinessOf(4), here.loadOf(4)]).toEqual([live, 0]);
    expect(here.readinessOf(1)).toBe(ended);
  });

  it('say of agents whose thread has died neither that they can take mail nor that something waits', () => {
    const { memory, here } = wordsOf();
    const book = new AgentTable(new AgentStatusMemory(memory));
    const at = ['worker-1', 'worker-1', 'worker-2'];
    const record = (place: string, slot: number) =>
      ({ id: `agent-${slot}`, slot, place, profile: profileOf(`agent-${slot}`) }) as AgentEntry;
    book.add(at.map(record));
    here.write(0, live, 5);
    here.write(1, ended, 0);
    here.write(2, live, 4);
    book.threadDied('worker-1');
    expect([0, 1, 2].map((slot) => [here.readinessOf(slot), here.loadOf(slot)])).toEqual([
      [awaited, 0],
      [ended, 0],
      [live, 4],
    ]);
  });
});

describe('An agent for a capability (N-4.3)', () => {
  const mail = new Mail(
    'm',
    'origin',
    typeIndex('request'),
    'system/host',
    'work',
    'm',
    0,
    1,
    'work',
    0,
    NO_ASK,
    undefined,
    { routingHint: 'capability' },
  );

  function chosen(states: readonly Readiness[], hosted: readonly boolean[] = states.map(() => true)) {
    const { memory, here } = wordsOf();
    const table = new RoutingTable();
    const rows = states.map((_, at) => ({
      id: `agent-${at}`,
      slot: hosted[at] === true ? at : -1,
      place: 'worker-1',
      profile: profileOf(`agent-${at}`),
      revision: 0,
    }));
    table.apply(deltaOf(1, rows));
    here.reach(states.length);
    // Who is busiest comes first: nobody is chosen for having less to do.
    for (const [at, state] of states.entries()) here.write(at, state, states.length - at);
    const clock = new FakeClock();
    const grants = new Grants(clock);
    const judge = new MailJudge({
      table,
      policies: [],
      grants,
      agentStatus: new AgentStatusMemory(memory),
      clock,
    });
    const manner = { isBroadcast: false, expectsReply: true };
    const found = judge.route(systemParty('system/host'), mail, manner, 0);
    return found instanceof Unrouted ? undefined : found.id;
  }

  it.each([
    ['the first that can take mail', [live, live, live], 'agent-0'],
    ['a later one that can, while the first is awaited', [awaited, live, live], 'agent-1'],
    ['a later one that can, where others have failed', [ended, awaited, live], 'agent-2'],
    ['one that is awaited before one that has failed', [ended, awaited, awaited], 'agent-1'],
    ['the first of those that have failed, when there are no others', [ended, ended], 'agent-0'],
  ] as const)('is %s', (_, states, id) => {
    expect(chosen(states)).toBe(id);
  });

  it('is never one that nobody hosts', () => {
    expect(chosen([live, ended], [false, true])).toBe('agent-1');
  });
});
