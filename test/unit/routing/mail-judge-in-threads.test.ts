import { describe, expect, it } from 'vitest';
import { Mail, type MailExtras, NO_ASK, typeIndex } from '../../../runtime/mailbox/mail.ts';
import type { A2AMessageType } from '../../../runtime/protocol/envelope.ts';
import type { JudgePolicy, JudgeRequest } from '../../../runtime/protocol/policy.ts';
import { READINESS, type Readiness } from '../../../runtime/routing/agent-status-memory.ts';
import { Grants } from '../../../runtime/routing/grants.ts';
import { MailJudge, type MailManner, Unrouted } from '../../../runtime/routing/mail-judge.ts';
import { RoutingTable } from '../../../runtime/routing/routing-table.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { partyOf } from '../policies/judge-request.ts';
import { cardOf, offers } from './standalone-team.ts';

const PLAIN: MailManner = { isBroadcast: false, expectsReply: false };
const SENDER = partyOf('sun', { tier: 1 });
const SCAN = 'types.scan';

interface Agent {
  readonly readiness?: Readiness;
  /** Nobody hosts it. */
  readonly isCard?: boolean;
}

/** Agents that offer `types.scan`, in this order, and a policy that refuses what goes to some and notes what it is asked. */
function judgeOf(
  agents: Readonly<Record<string, Agent>>,
  refused: readonly string[] = [],
  code: 'TIER_VIOLATION' | 'SANDBOX_VIOLATION' = 'TIER_VIOLATION',
) {
  const entries = Object.entries(agents);
  const table = new RoutingTable();
  table.apply({
    version: 1,
    profiles: entries.map(([id]) => ({
      card: cardOf(id, { tier: 2, ...offers(SCAN) }),
      capabilityIds: [SCAN],
      delivery: 'once',
      mailboxCapacity: 10,
      lazy: false,
      durable: false,
    })),
    upsert: entries.map(([id, { isCard }], at) => ({
      id,
      slot: isCard ? -1 : at,
      place: 'worker-1',
      profile: at,
      revision: 0,
    })),
    remove: [],
  });
  const requests: JudgeRequest[] = [];
  const policy: JudgePolicy = {
    name: 'some',
    judge: (request) => {
      requests.push(request);
      return refused.includes(request.recipient.id) ? { code, reason: request.recipient.id } : undefined;
    },
  };
  const clock = new FakeClock(0);
  const grants = new Grants(clock);
  const agentStatus = { readinessOf: (slot: number) => entries[slot]?.[1].readiness ?? READINESS.live };
  const judge = new MailJudge({ table, policies: [policy], grants, agentStatus, clock });
  /** Whom it goes to, or why it goes to nobody. */
  const routed = (mail: Mail, manner = PLAIN): string => {
    const to = judge.route(SENDER, mail, manner, 5);
    return to instanceof Unrouted ? `${to.verdict.code} ${to.row?.id}` : to.id;
  };
  return { judge, table, requests, routed };
}

interface Fields {
  readonly type?: A2AMessageType;
  readonly payload?: unknown;
  readonly sender?: string;
  readonly extras?: MailExtras;
}

const mailTo = (
  recipient: string,
  { type = 'notification', payload, sender = 'sun', extras }: Fields = {},
): Mail =>
  new Mail(
    'm',
    '',
    typeIndex(type),
    sender,
    recipient,
    undefined,
    0,
    payload,
    undefined,
    0,
    NO_ASK,
    undefined,
    extras,
  );
const toCapability = (id = SCAN): Mail => mailTo(id, { extras: { routingHint: 'capability' } });

describe('Mail to one agent', () => {
  it('goes to that of this id, and to nobody where there is none', () => {
    const { routed } = judgeOf({ mars: {} });
    expect(routed(mailTo('mars'))).toBe('mars');
    expect(routed(mailTo('venus'))).toBe('AGENT_NOT_FOUND undefined');
  });

  it('is refused as the policies say, with the agent that it was for', () => {
    expect(judgeOf({ mars: {} }, ['mars']).routed(mailTo('mars'))).toBe('TIER_VIOLATION mars');
  });

  it('for which nobody hosts its agent finds none, unless it would be refused', () => {
    expect(judgeOf({ mars: { isCard: true } }).routed(mailTo('mars'))).toBe('AGENT_NOT_FOUND mars');
    expect(judgeOf({ mars: { isCard: true } }, ['mars']).routed(mailTo('mars'))).toBe('TIER_VIOLATION mars');
  });

  it('goes there as well when it is only expected to take mail again', () => {
    expect(judgeOf({ mars: { readiness: READINESS.ended } }).routed(mailTo('mars'))).toBe('mars');
  });

  it.each(['ready', 'lost', 'close'] as const)('of a channel that was let open is not judged: %s', (act) => {
    const { routed, requests } = judgeOf({ mars: {} }, ['mars']);
    const channel = { id: 'c', act };
    expect(routed(mailTo('mars', { extras: { channel } }))).toBe('mars');
    expect(requests).toEqual([]);
  });

  it.each(['open', 'data'] as const)('of a channel that an agent says is judged: %s', (act) => {
    const channel = { id: 'c', act };
    expect(judgeOf({ mars: {} }, ['mars']).routed(mailTo('mars', { extras: { channel } }))).toBe(
      'TIER_VIOLATION mars',
    );
  });
});

describe('Mail to a capability', () => {
  const { ended, awaited, live } = READINESS;

  it.each<[string, Record<string, Agent>, string[], string]>([
    ['the first that can take mail', { a: { readiness: awaited }, b: { readiness: live }, c: {} }, [], 'b'],
    ['the first that is expected to', { a: { readiness: ended }, b: { readiness: awaited } }, [], 'b'],
    ['the first of all otherwise', { a: { readiness: ended }, b: { readiness: ended } }, [], 'a'],
    ['the first that is permitted', { a: {}, b: {}, c: {} }, ['a'], 'b'],
    ['one that is ended before one that is not permitted', { a: {}, b: { readiness: ended } }, ['a'], 'b'],
    ['none that nobody hosts', { a: { isCard: true }, b: { readiness: ended } }, [], 'b'],
    ['nobody, by the first refusal', { a: { isCard: true }, b: {}, c: {} }, ['b', 'c'], 'TIER_VIOLATION b'],
    ['nobody where cards alone offer it', { a: { isCard: true } }, [], 'CAPABILITY_NOT_FOUND undefined'],
  ])('goes to %s', (_, agents, refused, to) => {
    expect(judgeOf(agents, refused).routed(toCapability())).toBe(to);
  });

  it('that nobody offers goes to nobody', () => {
    expect(judgeOf({ mars: {} }).routed(toCapability('nothing'))).toBe('CAPABILITY_NOT_FOUND undefined');
  });
});

describe('What policies are asked', () => {
  /** What the policy was asked of one mail to `mars`. */
  function requestOf(fields: Fields, manner = PLAIN): JudgeRequest {
    const { routed, requests } = judgeOf({ mars: {} });
    routed(mailTo('mars', fields), manner);
    return requests[0] as JudgeRequest;
  }

  it('says who sends what to whom, and when', () => {
    const manner = { isBroadcast: true, expectsReply: true };
    expect(
      requestOf({ type: 'request', extras: { tool: true, justification: 'why' } }, manner),
    ).toMatchObject({
      sender: SENDER,
      recipient: { id: 'mars', tier: 2 },
      type: 'request',
      isBroadcast: true,
      expectsReply: true,
      isTool: true,
      justification: 'why',
      deadlineAtMs: undefined,
      nowMs: 5,
      path: [],
      proposes: [],
    });
  });

  it('has the justification of a proposal from its payload, and of nothing else', () => {
    const payload = { escalationJustification: 'urgent' };
    expect(requestOf({ type: 'task-proposal', payload }).justification).toBe('urgent');
    expect(requestOf({ type: 'request', payload }).justification).toBeUndefined();
    const extras = { justification: 'its own' };
    expect(requestOf({ type: 'task-proposal', payload, extras }).justification).toBe('its own');
  });

  it.each<[string, Fields, MailManner, boolean]>([
    ['no answer', {}, PLAIN, false],
    ['an answer to what it was not asked', { extras: { inReplyTo: 'q' } }, PLAIN, false],
    ['an answer that was let pass', { extras: { inReplyTo: 'q' } }, { ...PLAIN, wasGranted: true }, true],
    ['a frame of a shared document', { type: 'stream-data', extras: { frame: true } }, PLAIN, true],
    ['a frame that is none', { type: 'notification', extras: { frame: true } }, PLAIN, false],
    [
      'a frame that is an answer',
      { type: 'stream-data', extras: { frame: true, inReplyTo: 'q' } },
      PLAIN,
      false,
    ],
    [
      'data of a channel with leave',
      { extras: { channel: { id: 'c', act: 'data', granted: true } } },
      PLAIN,
      true,
    ],
  ])('says whether the rules for tiers do not hold: %s', (_, fields, manner, isGranted) => {
    expect(requestOf(fields, manner).isGranted).toBe(isGranted);
  });
});

describe('Leave to answer', () => {
  const asked = new Mail(
    'q',
    '',
    typeIndex('request'),
    'mars',
    'sun',
    undefined,
    0,
    null,
    undefined,
    0,
    1,
    undefined,
    undefined,
  );
  const answer = mailTo('mars', { type: 'response', extras: { inReplyTo: 'q' } });

  it('has who holds the envelope, towards its sender alone, and not to everybody at once', () => {
    const { judge, routed, requests } = judgeOf({ mars: {}, venus: {} });
    judge.holdGrant(asked, 'sun');
    routed(answer);
    routed(mailTo('venus', { type: 'response', extras: { inReplyTo: 'q' } }));
    routed(answer, { isBroadcast: true, expectsReply: false });
    expect(requests.map(({ isGranted }) => isGranted)).toEqual([true, false, false]);
  });

  it('ends with the answer, and with the work', () => {
    const { judge, routed, requests } = judgeOf({ mars: {} });
    judge.holdGrant(asked, 'sun');
    judge.useGrant(answer, 'sun', 'mars');
    routed(answer);
    judge.holdGrant(asked, 'sun');
    judge.endGrant('q', 'sun', 'mars');
    routed(answer);
    expect(requests.map(({ isGranted }) => isGranted)).toEqual([false, false]);
  });

  it('to a proposal can be given again', () => {
    const { judge, routed, requests } = judgeOf({ mars: {} });
    judge.holdGrantAgain('q', 'sun', 'mars', 1_000);
    routed(mailTo('mars', { type: 'task-accept', extras: { inReplyTo: 'q' } }));
    expect(requests[0]?.isGranted).toBe(true);
  });
});

describe('Who a judge knows', () => {
  it('is as registered, a part of the runtime, or of the lowest tier', () => {
    const { judge } = judgeOf({ mars: {} });
    expect(judge.partyOf('mars')).toMatchObject({ id: 'mars', tier: 2, isSystem: false });
    expect(judge.partyOf('system/host')).toMatchObject({ isSystem: true });
    expect(judge.partyOf('nobody')).toEqual(partyOf('nobody', { tier: 3 }));
  });

  it('is seen unless its sandbox forbids it or nobody hosts it; a refusal of another kind hides nobody', () => {
    const seen = (agent: Agent, ...refusal: [(readonly string[])?, 'SANDBOX_VIOLATION'?]): boolean => {
      const { judge, table } = judgeOf({ mars: agent }, ...refusal);
      return judge.isSeen('sun', table.get('mars') as never);
    };
    expect(seen({})).toBe(true);
    expect(seen({ isCard: true })).toBe(false);
    expect(seen({}, ['mars'])).toBe(true);
    expect(seen({}, ['mars'], 'SANDBOX_VIOLATION')).toBe(false);
  });

  it('is another matter under another configuration: policies take it, and whoever reads the table looks again', () => {
    const table = new RoutingTable();
    const given: unknown[] = [];
    const policy: JudgePolicy = {
      name: 'configured',
      judge: () => undefined,
      withConfig(config) {
        given.push(config);
        return this;
      },
    };
    const clock = new FakeClock(0);
    const agentStatus = { readinessOf: () => READINESS.live };
    const judge = new MailJudge({ table, policies: [policy], grants: new Grants(clock), agentStatus, clock });
    const { edition } = table;
    const config = {} as never;
    judge.configure(config);
    expect(given).toEqual([config]);
    expect(table.edition).toBeGreaterThan(edition);
  });
});
