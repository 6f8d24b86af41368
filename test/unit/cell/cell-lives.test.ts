import { type AgentDefinition, capability, defineAgent, type Capability } from 'orrery';
import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { rejection, until } from '../../fixtures/until.ts';
import { systemParty } from '../../../runtime/protocol/policy.ts';
import { deltaOf } from '../../../runtime/routing/routing-table.ts';
import type { ChangeOrder, ControlOrder, NodeReport } from '../../../runtime/thread/control-protocol.ts';
import type { ThreadHost } from '../../../runtime/thread/thread-host.ts';
import { SteeredNode } from '../../fixtures/steered-node.ts';

type Told<Type extends NodeReport['t']> = NodeReport & { readonly t: Type };
const HOST = { id: 'system/host', slot: -1, party: systemParty('system/host') };

/** A place with one agent, alone in this thread; the test is its control thread. */
class LoneNode {
  readonly #node: SteeredNode;
  readonly #told: NodeReport[] = [];
  #nextRef = 1;

  constructor(modules: Readonly<Record<string, AgentDefinition<unknown>>>) {
    this.#node = new SteeredNode({ inline: new Map(Object.entries(modules)) });
    this.#node.onTold = (message) => void this.#told.push(message);
  }

  get host(): ThreadHost {
    return this.#node.host;
  }

  get status(): string | undefined {
    return this.host.node.cellOf(0)?.status;
  }

  control(message: ControlOrder): void {
    this.#node.control(message);
  }

  /** Hosts the agent of this module; it is not started yet. */
  async take(module: string): Promise<void> {
    const { card } = await this.host.load(module);
    const capabilityIds = card.capabilities.map(({ id }) => id);
    const profile = {
      card,
      capabilityIds,
      delivery: 'once',
      mailboxCapacity: 100,
      lazy: false,
      durable: false,
    } as const;
    const change = deltaOf(0, [{ id: card.id, slot: 0, place: 'here', profile, revision: 0 }]);
    const agents = [{ id: card.id, module, broken: undefined, process: undefined }];
    this.control({ t: 'host', ref: 0, change, agents, isAgain: false });
    await this.hears('hosted');
  }

  /** Resolves with the next message of this type. */
  async hears<Type extends NodeReport['t']>(type: Type): Promise<Told<Type>> {
    const at = await until(`it says "${type}"`, () => {
      const index = this.#told.findIndex(({ t }) => t === type);
      return index < 0 ? undefined : { index };
    });
    return this.#told.splice(at.index, 1)[0] as Told<Type>;
  }

  /** Has it not said anything of this type? */
  isSilentAbout(type: NodeReport['t']): boolean {
    return this.#told.every(({ t }) => t !== type);
  }

  /** Begins a change; `hears('changed')` is its end. */
  change(module: string, order: Partial<ChangeOrder> = {}): void {
    const ref = this.#nextRef++;
    const rest = { process: undefined, resumed: undefined, graceMs: 10_000, isFresh: false };
    this.control({ t: 'change', ref, slot: 0, module, ...rest, ...order });
  }

  ask<Input, Output>(capability: Capability<Input, Output>, input: Input): Promise<Output> {
    return this.host.node.mailSender.ask(HOST, capability, input, {}, undefined);
  }
}

/** Answers which code does it, after a promise that the test holds. */
const work = capability({ id: 'work', description: 'Works', input: z.string(), output: z.string() });

interface Gates {
  readonly work: PromiseWithResolvers<void>;
  readonly start: PromiseWithResolvers<void>;
  readonly stop: PromiseWithResolvers<void>;
}
const opened = (): PromiseWithResolvers<void> => {
  const gate = Promise.withResolvers<void>();
  gate.resolve();
  return gate;
};

/** What the two versions did, in order. */
let done: string[] = [];
let gates: Gates;
const open: LoneNode[] = [];

afterEach(() => {
  for (const { host } of open.splice(0)) host.close();
});

const versionOf = (version: string, keeps = z.object({ by: z.string() })): AgentDefinition<unknown> =>
  defineAgent({ id: 'agent', name: 'AGENT', version: `${version}.0.0`, description: 'Works', tier: 2 })
    .onStart(async () => {
      done.push(`${version} starts`);
      await gates.start.promise;
      return { by: version };
    })
    .onStop(async () => {
      done.push(`${version} stops`);
      await gates.stop.promise;
    })
    .keepsState(keeps)
    .handle(work, async (what, ctx) => {
      done.push(`${version} ${what}`);
      if (what === 'fail') throw new Error('it fails');
      await gates.work.promise;
      return `${version} of ${ctx.state.by}`;
    }) as AgentDefinition<unknown>;

const MODULES = {
  first: versionOf('1'),
  second: versionOf('2'),
  strange: versionOf('3', z.object({ by: z.string(), more: z.string() }) as never),
  broken: versionOf('4').onStart(() => {
    throw new Error('no ink');
  }) as AgentDefinition<unknown>,
};

async function running(): Promise<LoneNode> {
  done = [];
  gates = { work: opened(), start: opened(), stop: opened() };
  const node = new LoneNode(MODULES);
  open.push(node);
  await node.take('first');
  node.control({ t: 'start', slots: [0] });
  await node.hears('started');
  return node;
}

/** With something in hand that ends when `gates.work` opens. */
async function busy(): Promise<{ node: LoneNode; inHand: Promise<string> }> {
  const node = await running();
  gates = { ...gates, work: Promise.withResolvers() };
  const inHand = node.ask(work, 'slowly');
  inHand.catch(() => undefined);
  await until('it is in hand', () => done.includes('1 slowly'));
  return { node, inHand };
}

const start = { t: 'start', slots: [0] } as const;
const halt = { t: 'halt', slots: [0] } as const;
const stop = { t: 'stop', slots: [0] } as const;

describe('A cell whose code changes', () => {
  it('is done with what is in hand, then begins on what waits, with the state', async () => {
    const { node, inHand } = await busy();
    node.change('second');
    const waits = node.ask(work, 'next');
    await until('it takes nothing new', () => node.status === 'finishing');
    gates.work.resolve();
    expect(await inHand).toBe('1 of 1');
    expect((await node.hears('changed')).changed).toEqual({ outcome: 'running' });
    expect(await waits).toBe('2 of 1');
    expect(done).toEqual(['1 starts', '1 slowly', '1 stops', '2 starts', '2 next']);
  });

  it('has one actor at a time, whatever its supervisor orders meanwhile', async () => {
    const node = await running();
    gates = { ...gates, stop: Promise.withResolvers() };
    node.change('second');
    await until('the old one stops', () => node.status === 'changing');
    for (const order of [halt, start, start]) node.control(order);
    gates.stop.resolve();
    expect((await node.hears('changed')).changed).toEqual({ outcome: 'running' });
    node.control(start);
    expect(await node.ask(work, 'next')).toBe('2 of 1');
    expect(done).toEqual(['1 starts', '1 stops', '2 starts', '2 next']);
  });

  it('waits for a start that is under way', async () => {
    const node = await running();
    gates = { ...gates, start: Promise.withResolvers() };
    node.control(halt);
    node.control(start);
    node.change('second');
    await until('it starts again', () => done.filter((one) => one === '1 starts').length === 2);
    gates.start.resolve();
    expect((await node.hears('changed')).changed).toEqual({ outcome: 'running' });
    expect(done).toEqual(['1 starts', '1 stops', '1 starts', '1 stops', '2 starts']);
  });

  it('has the new code from the next start on when its actor dies over what is in hand', async () => {
    const { node } = await busy();
    node.change('second');
    await until('it takes nothing new', () => node.status === 'finishing');
    gates.work.reject(new Error('too heavy'));
    expect((await node.hears('changed')).changed).toEqual({ outcome: 'later' });
    expect(await node.hears('crashed')).toMatchObject({ reason: 'too heavy', charged: true });
    gates = { ...gates, work: opened() };
    const waits = node.ask(work, 'next');
    node.control(start);
    expect(await waits).toBe('2 of 2');
  });

  it.each(['finishing', 'changing'])('stays stopped when it is stopped while it is %s', async (status) => {
    const { node, inHand } = await busy();
    gates = { ...gates, stop: Promise.withResolvers() };
    node.change('second');
    await until('it takes nothing new', () => node.status === 'finishing');
    if (status === 'changing') gates.work.resolve();
    await until(`it is ${status}`, () => node.status === status);
    node.control(stop);
    gates.stop.resolve();
    expect((await node.hears('changed')).changed).toEqual({ outcome: 'later' });
    await node.hears('ended');
    expect(node.status).toBe('stopped');
    if (status === 'finishing') expect((await rejection(inHand)).code).toBe('NOT_HERE');
    expect(done.filter((one) => one.startsWith('2'))).toEqual([]);
  });

  it('that is parked is not started by an order that was given before', async () => {
    const node = await running();
    node.change('strange');
    expect((await node.hears('changed')).changed).toMatchObject({
      outcome: 'parked',
      snapshot: { version: '1.0.0', state: { by: '1' } },
      why: { code: 'SNAPSHOT_UNKNOWN' },
    });
    const waits = node.ask(work, 'next');
    for (const order of [halt, start]) node.control(order);
    expect(node.status).toBe('parked');
    expect(node.isSilentAbout('started')).toBe(true);
    const snapshot = {
      agentId: 'agent',
      machineId: 'agent',
      version: '1.0.0',
      hash: '',
      state: { by: '1' },
      atMs: 0,
    };
    node.change('second', { resumed: { snapshot } });
    expect((await node.hears('changed')).changed).toMatchObject({ outcome: 'parked' });
    node.change('first', { resumed: { snapshot: undefined } });
    expect((await node.hears('changed')).changed).toEqual({ outcome: 'running' });
    expect(await waits).toBe('1 of 1');
  });

  it('without a state dies like any other when the new code does not start', async () => {
    const node = await running();
    node.change('broken', { isFresh: true });
    expect(await node.hears('crashed')).toMatchObject({ reason: 'no ink', charged: true });
    expect((await node.hears('changed')).changed).toEqual({ outcome: 'later' });
    expect(node.status).toBe('down');
  });

  it('goes on with the old code when the new cannot be had', async () => {
    const node = await running();
    node.change('file:///nowhere.js');
    expect(await node.hears('changed')).toMatchObject({
      changed: undefined,
      error: { code: 'MODULE_INVALID' },
    });
    expect(await node.ask(work, 'next')).toBe('1 of 1');
  });
});
