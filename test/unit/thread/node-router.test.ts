import { capability, defineAgent } from 'orrery';
import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { AgentDefinition } from '../../../runtime/agent/agent-definition.ts';
import { systemParty } from '../../../runtime/protocol/policy.ts';
import { deltaOf, NO_CHANGE, type TableDelta } from '../../../runtime/routing/routing-table.ts';
import type { AgentProfile } from '../../../runtime/protocol/agent-row.ts';
import type { ControlOrder, NodeReport } from '../../../runtime/thread/control-protocol.ts';
import type { ThreadHost } from '../../../runtime/thread/thread-host.ts';
import { SteeredNode } from '../../fixtures/steered-node.ts';
import { rejection, until } from '../../fixtures/until.ts';

const greet = capability({
  id: 'greet',
  description: 'Says hello',
  input: z.string(),
  output: z.string(),
});
const relay = capability({
  id: 'relay',
  description: 'Has another agent say hello, when it is told to',
  input: z.string(),
  output: z.string(),
});

const define = (id: string) => defineAgent({ id, name: id, version: '1.0.0', description: id, tier: 2 });

/** What the relay waits for before it asks. */
let gate = Promise.withResolvers<void>();

const AGENTS = new Map<string, AgentDefinition<unknown>>([
  ['greeter', define('greeter').handle(greet, (whom) => `hello ${whom}`) as AgentDefinition<unknown>],
  [
    'relay',
    define('relay').handle(relay, async (whom, ctx) => {
      await gate.promise;
      return ctx.ask(greet, whom);
    }) as AgentDefinition<unknown>,
  ],
]);

const HOST = { id: 'system/host', slot: -1, party: systemParty('system/host') };
const open: ThreadHost[] = [];
afterEach(() => {
  for (const host of open.splice(0)) host.close();
});

/** A place alone in this thread; the test is its control thread. */
function bootNode() {
  const told: NodeReport[] = [];
  const steered = new SteeredNode({ inline: AGENTS });
  steered.onTold = (message) => void told.push(message);
  const { host } = steered;
  open.push(host);
  const control = (message: ControlOrder): void => steered.control(message);
  const rowsOf = (ids: readonly string[]) =>
    ids.map((id, slot) => {
      const definition = AGENTS.get(id) as AgentDefinition<unknown>;
      const card = definition.card(0);
      const capabilityIds = card.capabilities.map((one) => one.id);
      const rest = { delivery: 'once', mailboxCapacity: 1_000, lazy: false, durable: false } as const;
      const profile: AgentProfile = { card, capabilityIds, ...rest };
      return { id, slot, place: 'here', profile, revision: 0 };
    });
  const deltaFor = (version: number, ids: readonly string[]): TableDelta => deltaOf(version, rowsOf(ids));
  const hostAll = async (ids: readonly string[]): Promise<void> => {
    const agents = ids.map((id) => ({ id, module: id, broken: undefined, process: undefined }));
    control({ t: 'host', ref: 0, change: deltaFor(0, ids), agents, isAgain: false });
    await until('they are hosted', () => told.some(({ t }) => t === 'hosted'));
    control({ t: 'start', slots: ids.map((_, slot) => slot) });
    await until('they are started', () => told.filter(({ t }) => t === 'started').length === ids.length);
  };
  const { node } = host;
  const ask = (whom: string, options = {}) => node.mailSender.ask(HOST, greet, whom, options, undefined);
  return { host, node, told, control, deltaFor, hostAll, ask };
}

/** As above, with agents; the delta that tells of them is lost, and another one has shown it. */
async function bootBehind(ids: readonly string[]) {
  const booted = bootNode();
  await booted.hostAll(ids);
  const { control, deltaFor, node } = booted;
  control({ t: 'table', delta: { version: 1, ...NO_CHANGE, remove: ids } });
  control({ t: 'table', delta: { version: 3, ...NO_CHANGE } });
  const answer = (known = ids): void => control({ t: 'whole-table', delta: deltaFor(3, known) });
  expect(node.router.state).toBe('syncing');
  return { ...booted, answer };
}

describe('A place', () => {
  it('is ready before anybody can send from it: the table comes with its boot data', () => {
    const { node, told } = bootNode();
    expect(node.router.state).toBe('ready');
    expect(told).toEqual([]);
  });

  it('asks the control thread for its table when a delta was lost, and says so', async () => {
    const { told, host, answer } = await bootBehind(['greeter']);
    expect(told.filter(({ t }) => t === 'table-wanted')).toHaveLength(1);
    answer();
    expect(host.recentEvents().filter(({ type }) => type === 'router-state')).toMatchObject([
      { place: 'here', reason: 'ready' },
      { place: 'here', reason: 'syncing' },
      { place: 'here', reason: 'ready' },
    ]);
  });
});

describe('What is sent while a place is syncing', () => {
  it('waits when its recipient is not known, and goes when the table is here', async () => {
    const { host, answer, ask, node } = await bootBehind(['greeter']);
    const asked = ask('mars');
    const { mailSender } = node;
    const whenRoom = mailSender.tellWhenRoom(HOST, greet, 'venus', {}, undefined);
    expect(node.router.held).toBe(2);
    expect(host.stats().isIdle).toBe(false);
    answer();
    expect(await asked).toBe('hello mars');
    expect(await whenRoom).toMatchObject({ delivered: true, targetAgentId: 'greeter' });
    await until('all is handled', () => host.stats().isIdle);
  });

  it('is refused for now when it is a tell that does not wait', async () => {
    const { node } = await bootBehind(['greeter']);
    const told = node.mailSender.tell(HOST, 'greeter', 1, {}, undefined);
    expect(told).toMatchObject({ delivered: false, errorCode: 'NOT_HERE', retryAfterMs: 20 });
    expect(node.router.held).toBe(0);
  });

  it('is AGENT_NOT_FOUND only by the whole table', async () => {
    const { answer, node } = await bootBehind(['greeter']);
    const { mailSender } = node;
    const target = { agent: 'nobody', capability: greet };
    const asked = rejection(mailSender.ask(HOST, target, 'mars', {}, undefined));
    const whenRoom = mailSender.tellWhenRoom(HOST, 'nobody', 1, {}, undefined);
    answer();
    expect(await asked).toMatchObject({ code: 'AGENT_NOT_FOUND' });
    expect(await whenRoom).toMatchObject({ delivered: false, errorCode: 'AGENT_NOT_FOUND' });
  });

  it('goes at once to whom the table has', async () => {
    const { control, deltaFor, ask, hostAll, node } = bootNode();
    await hostAll(['greeter']);
    control({ t: 'table', delta: deltaFor(1, ['greeter']) });
    control({ t: 'table', delta: { version: 3, ...NO_CHANGE } });
    expect(node.router.state).toBe('syncing');
    expect(await ask('mars')).toBe('hello mars');
  });

  it('waits no longer than its deadline or its signal', async () => {
    const { ask } = await bootBehind(['greeter']);
    expect((await rejection(ask('mars', { timeoutMs: 20 }))).code).toBe('DEADLINE_EXCEEDED');
    expect((await rejection(ask('mars', { signal: AbortSignal.timeout(20) }))).code).toBe('CANCELLED');
  });

  it('is bounded: beyond 1,000 it is refused with MAILBOX_FULL', async () => {
    const { node, ask } = await bootBehind(['greeter']);
    const { mailSender } = node;
    for (let n = 0; n < 1_000; n++)
      mailSender.tellWhenRoom(HOST, 'greeter', n, {}, undefined).catch(() => undefined);
    expect((await rejection(ask('mars'))).code).toBe('MAILBOX_FULL');
  });
});

describe('A place that drains', () => {
  async function bootDraining() {
    const booted = bootNode();
    await booted.hostAll(['greeter', 'relay']);
    booted.control({ t: 'table', delta: booted.deltaFor(1, ['greeter', 'relay']) });
    gate = Promise.withResolvers();
    const target = { agent: 'relay', capability: relay };
    const relayed = booted.node.mailSender.ask(HOST, target, 'mars', {}, undefined);
    await until('it is in hand', () => booted.node.cellOf(1)?.inHand === 1);
    booted.control({ t: 'drain' });
    return { ...booted, relayed };
  }

  it('takes nothing new: asks, tells and streams are refused with SYSTEM_STOPPED', async () => {
    const { node, ask, relayed } = await bootDraining();
    const { mailSender } = node;
    expect((await rejection(ask('venus'))).code).toBe('SYSTEM_STOPPED');
    const refused = { delivered: false, errorCode: 'SYSTEM_STOPPED' };
    expect(mailSender.tell(HOST, 'greeter', 1, {}, undefined)).toMatchObject(refused);
    expect(mailSender.tell(HOST, '*', 1, {}, undefined)).toMatchObject(refused);
    expect(await mailSender.tellWhenRoom(HOST, 'greeter', 1, {}, undefined)).toMatchObject(refused);
    const read = async () => {
      for await (const _ of mailSender.stream(HOST, greet, 'venus', {}, undefined));
    };
    expect((await rejection(read())).code).toBe('SYSTEM_STOPPED');
    gate.resolve();
    await relayed;
  });

  it('goes on with what is under way: its asks are answered, and it answers', async () => {
    const { relayed } = await bootDraining();
    gate.resolve();
    expect(await relayed).toBe('hello mars');
  });

  it('fails what still waits when it is closed', async () => {
    const { host, relayed, ask } = await bootDraining();
    host.close();
    expect((await rejection(relayed)).code).toBe('SYSTEM_STOPPED');
    expect((await rejection(ask('venus'))).code).toBe('SYSTEM_STOPPED');
  });
});
