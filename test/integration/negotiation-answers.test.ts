import { type A2AEnvelope, considers, decline, defineAgent, type HandlingContext, startSystem } from 'orrery';
import { describe, expect, it, onTestFinished } from 'vitest';
import { setup } from 'xstate';
import {
  capabilityNegotiation,
  negotiateCapabilities,
  offersCapabilities,
} from '../../actors/negotiator/capability-handlers.ts';
import { bidder, parley, toil } from '../fixtures/agents/bidding.ts';
import { fullOf, proposalOf, proposedBy } from '../fixtures/bidders.ts';
import { teamOf } from '../fixtures/bidding-team.ts';
import { rejection, until } from '../fixtures/until.ts';

describe('Agents that say nothing about proposals', () => {
  it('take on what they have the capabilities for, and say how much waits before it', async () => {
    const system = await teamOf({ id: 'mars', mailboxCapacity: 4 }, { id: 'venus', offers: ['work.check'] });
    expect(await system.negotiator.propose(proposalOf(), { to: 'mars' })).toMatchObject({
      acceptedBy: 'mars',
    });
    expect(await system.negotiator.propose(proposalOf(), { to: 'venus' })).toMatchObject({
      rejectionReason: 'NOT_CAPABLE',
    });
    const both = proposalOf({ requiredCapabilities: ['work.do', 'work.check'] });
    expect(await system.negotiator.propose(both)).toMatchObject({ rejectionReason: 'CAPABILITY_NOT_FOUND' });
    const stop = new AbortController();
    const busy = rejection(
      system.ask({ agent: 'mars', capability: toil }, { ms: 15_000 }, { signal: stop.signal }),
    );
    const proposed = system.negotiator.propose(proposalOf(), { to: 'mars', correlationId: 'queued' });
    await until('it was sent', async () => (await system.thread('queued')).length > 0);
    const behind = Array.from({ length: 2 }, () =>
      system.ask({ agent: 'mars', capability: toil }, { ms: 1 }),
    );
    await until('they wait', async () => ((await system.roster())[0]?.waiting ?? 0) >= 3);
    stop.abort();
    // Two wait behind the proposal when its turn comes.
    expect(await proposed).toMatchObject({ status: 'accepted', estimatedCompletionMs: 3_000 });
    expect((await busy).code).toBe('CANCELLED');
    await Promise.all(behind);
  });

  it('are started by their first proposal where they are lazy', async () => {
    const system = await teamOf({ id: 'mars', lazy: true });
    expect(await system.negotiator.propose(proposalOf())).toMatchObject({
      status: 'accepted',
      acceptedBy: 'mars',
    });
  });

  it('live in the thread of the embedder, too', async () => {
    const system = await startSystem({
      agents: [bidder(fullOf({ id: 'mars' })), bidder(fullOf({ id: 'sun', offers: [] }))],
    });
    onTestFinished(() => system.stop());
    expect((await proposedBy(system, 'sun')).proposal).toMatchObject({
      status: 'accepted',
      acceptedBy: 'mars',
    });
  });
});

describe('Capability negotiation across threads (M-08, M-09, M-10)', () => {
  it('is answered by every agent out of its card, with others where they may be seen', async () => {
    const system = await teamOf(
      { id: 'mars' },
      { id: 'venus', offers: ['work.check'] },
      { id: 'pluto', offers: ['work.do'], sandboxId: 'box' },
      { id: 'charon', offers: [], sandboxId: 'box' },
    );
    const answer = await negotiateCapabilities(system, 'mars', {
      i_need: ['work.do', 'work.check', 'work.fly'],
    });
    expect(answer).toEqual({
      type: 'capability_negotiation_response',
      matched: ['work.do'],
      unavailable: ['work.check', 'work.fly'],
      suggested_alternative: {
        'work.check': { amid: 'venus', display_name: 'venus', reason: 'venus offers work.check' },
      },
      agreed_schemas: [],
    });
    const asked = await system.ask(
      { agent: 'charon', capability: parley },
      { agent: 'pluto', request: { iNeed: ['work.check', 'work.do'] } },
    );
    expect(asked).toMatchObject({
      matched: ['work.do'],
      unavailable: ['work.check'],
      suggested_alternative: {},
    });
    expect((await rejection(negotiateCapabilities(system, 'mars', { i_need: [''] }))).code).toBe(
      'INVALID_PAYLOAD',
    );
  });

  it('is answered by an agent in its own way where it offers more', async () => {
    const offer = {
      schemas: ['agentmesh/travel/flight-search/v2'],
      languages: ['de-AT'],
      paymentMethods: ['escrow'],
    };
    const linguist = defineAgent({ id: 'io', name: 'IO', version: '1.0.0', description: '', tier: 0 }).handle(
      capabilityNegotiation,
      offersCapabilities({ ...offer, capabilities: ['talk'] }),
    );
    const system = await startSystem({ agents: [linguist] });
    onTestFinished(() => system.stop());
    const answer = await negotiateCapabilities(system, 'io', {
      i_need: ['talk'],
      preferred_schemas: ['agentmesh/travel/flight-search/v2', 'agentmesh/travel/flight-search/v1'],
      languages: ['fr', 'de'],
      payment_methods: ['Escrow'],
    });
    expect(answer).toMatchObject({
      matched: ['talk'],
      agreed_schema: 'agentmesh/travel/flight-search/v2',
      agreed_language: 'de-AT',
      agreed_payment_method: 'Escrow',
    });
  });
});

describe('XState logic and proposals', () => {
  it('is asked itself where its machine takes them, and answered for by card where it does not', async () => {
    const own = defineAgent({ id: 'mars', name: 'MARS', version: '1.0.0', description: '', tier: 0 }).logic(
      setup({
        types: { events: {} as { type: 'task-proposal'; envelope: A2AEnvelope; ctx: HandlingContext } },
        actions: {
          decline: ({ event: { envelope, ctx } }) =>
            considers(() => decline({ reason: 'BY_MACHINE' }))(envelope, ctx),
        },
      }).createMachine({
        initial: 'idle',
        states: { idle: { tags: 'ready', on: { 'task-proposal': { actions: 'decline' } } } },
      }),
    );
    const none = defineAgent({
      id: 'venus',
      name: 'VENUS',
      version: '1.0.0',
      description: '',
      tier: 0,
    }).logic(
      setup({}).createMachine({ initial: 'idle', states: { idle: { tags: 'ready', on: { other: {} } } } }),
    );
    const system = await startSystem({ agents: [own, none] });
    onTestFinished(() => system.stop());
    const nothing = proposalOf({ requiredCapabilities: [] });
    expect(await system.negotiator.propose(nothing, { to: 'mars' })).toMatchObject({
      rejectionReason: 'BY_MACHINE',
    });
    expect(await system.negotiator.propose(nothing, { to: 'venus' })).toMatchObject({ acceptedBy: 'venus' });
  });
});

describe('The embedder as one who is asked', () => {
  it('declines, unless it listens; then it answers as the seed says', async () => {
    const system = await teamOf({ id: 'sun', offers: [] });
    await system.negotiator.propose(proposalOf());
    expect((await proposedBy(system, 'sun', { to: 'system/host' })).proposal).toMatchObject({
      rejectionReason: 'NOT_CAPABLE',
    });
    const accepted: Promise<void>[] = [];
    system.negotiator.onProposalReceived(({ proposalId }) => {
      accepted.push(system.negotiator.accept(proposalId, 10));
    });
    expect((await proposedBy(system, 'sun', { to: 'system/host' })).proposal).toMatchObject({
      acceptedBy: 'system/host',
    });
    await Promise.all(accepted);
  });

  it("is no agent by that: not listed, not broadcast to, in nobody's way when the system stops", async () => {
    const system = await teamOf({ id: 'mars' });
    await system.negotiator.propose(proposalOf());
    expect((await system.roster()).map(({ id }) => id)).toEqual(['mars']);
    expect(system.registry.listAll().map(({ id }) => id)).toEqual(['mars']);
    expect(system.tell('*', null).recipients).toEqual(['mars']);
    const open = system.negotiator.propose(proposalOf({ requiredCapabilities: ['work.do'] }), {
      to: 'nobody',
    });
    expect(await open).toMatchObject({ rejectionReason: 'AGENT_NOT_FOUND' });
    await system.stop();
    const { code } = await rejection(
      system.negotiator.propose(proposalOf()).then(({ status, rejectionReason }) => {
        throw Object.assign(new Error(status), { code: rejectionReason });
      }),
    );
    expect(code).toBe('SYSTEM_STOPPED');
  });
});
