import { type AgentChannel, channelsOf, defineAgent, refused, startSystem, type SystemEvent } from 'orrery';
import { describe, expect, it } from 'vitest';
import { numbered } from '../fixtures/agents/corresponding.ts';
import { Correspondence, codesOf, idsOf } from '../fixtures/correspondence.ts';
import { agent, rejection, until } from '../fixtures/until.ts';

const HOST = 'system/host';
const fromHost = (n: number, does?: string) =>
  numbered({ localAgentId: HOST, remoteAgentId: 'venus' }, n, {}, does);

describe('Channels between agents of a running system (C-37)', () => {
  it('open between threads and within one, and carry in order in both directions (N-3.1, N-3.2, N-3.4)', async () => {
    await using team = await Correspondence.start([{ id: 'mars' }, { id: 'venus' }, { id: 'pluto' }]);
    const places = (await team.system.roster()).map(({ place }) => place);
    expect(places).toEqual(['worker-1', 'worker-2', 'worker-1']);
    const ids = new Set<string>();
    for (const to of ['venus', 'pluto']) {
      const channel = await team.open('mars', to);
      expect(channel).toMatchObject({ status: 'open', remoteAgentId: to, isAccepted: false });
      const [there] = (await team.seen(to)).channels;
      expect(there).toMatchObject({
        id: channel.id,
        status: 'open',
        remoteAgentId: 'mars',
        isAccepted: true,
      });
      ids.add(channel.id);
      await team.write('mars', channel.id, 1_000);
      await team.write(to, channel.id, 500);
      expect(codesOf(await team.settled(to, 500))).toEqual(['sent']);
      await until('all is there', async () => (await team.seen(to)).arrived.length === 1_000);
      expect((await team.seen(to)).arrived).toEqual(idsOf('mars', 1_000));
    }
    expect(codesOf(await team.settled('mars', 2_000))).toEqual(['sent']);
    const { arrived } = await team.seen('mars');
    for (const to of ['venus', 'pluto'])
      expect(arrived.filter((id) => id.startsWith(to))).toEqual(idsOf(to, 500));
    expect(ids.size).toBe(2);
    expect(await team.system.conservation()).toMatchObject({ deadLettered: 0, inFlight: 0, holds: true });
  });

  it('hand over the very same payload within a thread, and the envelope as it was sent (N-D07)', async () => {
    const got: unknown[] = [];
    const reader = defineAgent({
      id: 'reader',
      name: 'R',
      version: '1.0.0',
      description: '',
      tier: 2,
    }).onChannel((channel) => void channel.onMessage((envelope) => void got.push(envelope)));
    await using system = await startSystem({ agents: [reader], workers: 1 });
    const channel = await system.channels.openChannel(HOST, 'reader');
    const payload = { live: () => 'a function' };
    const envelope = { ...numbered(channel, 0), payload, correlationId: 'c', type: 'stream-data' as const };
    await channel.send(envelope);
    expect(got).toEqual([{ ...envelope, metadata: { tier: 0 } }]);
    expect((got[0] as { payload: unknown }).payload).toBe(payload);
  });

  it.each(['mars', 'venus'])('are closed at both ends when %s closes (N-3.3, N-E06)', async (closing) => {
    await using team = await Correspondence.start([{ id: 'mars' }, { id: 'venus', listens: false }]);
    const { id } = await team.open('mars', 'venus', { windowSize: 4 });
    await team.write('mars', id, 10);
    await team.act(closing, 'close', id);
    expect(codesOf(await team.settled('mars', 10))).toEqual(['CHANNEL_CLOSED']);
    for (const agent of ['mars', 'venus']) await team.channels(agent, (all) => all.length === 0);
    expect((await rejection(team.write('mars', id, 1))).message).toContain('it has no channel');
  });

  it('resolve a send when a handler has been called, and wait while nobody listens', async () => {
    await using team = await Correspondence.start([{ id: 'mars' }, { id: 'venus', listens: false }]);
    const { id } = await team.open('mars', 'venus', { windowSize: 4, waitingCapacity: 4 });
    await team.write('mars', id, 10);
    // Back-pressure: four under way, four wait, the rest is refused.
    const refusedOnes = await team.settled('mars', 2);
    expect(refusedOnes).toMatchObject([
      { id: 'mars-8', code: 'MAILBOX_FULL' },
      { id: 'mars-9', code: 'MAILBOX_FULL' },
    ]);
    await team.act('venus', 'sleep');
    expect(await team.settled('mars', 2)).toHaveLength(2);
    for (const what of ['listen', 'leave', 'listen'] as const) {
      await team.act('venus', what, id);
      await team.write('mars', id, 1, { from: what === 'listen' ? 100 : 200 }).catch(() => undefined);
    }
    const sent = (await team.settled('mars', 13)).filter(({ code }) => code === 'sent');
    expect(new Set(sent.map((one) => one.id))).toEqual(new Set((await team.seen('venus')).arrived));
    expect((await team.seen('venus')).arrived.slice(0, 8)).toEqual(idsOf('mars', 8));
  });

  it('keep order where the mailbox is smaller than the window, and its agent is slow', async () => {
    const got: string[] = [];
    const slow = defineAgent({
      id: 'slow',
      name: 'S',
      version: '1.0.0',
      description: '',
      tier: 2,
      mailboxCapacity: 2,
    }).onChannel((channel) => {
      channel.onMessage(async ({ id }, ctx) => {
        await ctx.sleep(1);
        got.push(id);
      });
    });
    await using system = await startSystem({ agents: [slow], workers: 1 });
    const channel = await system.channels.openChannel(HOST, 'slow');
    await Promise.all(Array.from({ length: 50 }, (_, n) => channel.send(numbered(channel, n))));
    await until('the last one is done', () => got.length === 50);
    expect(got).toEqual(idsOf(HOST, 50));
  });

  it('do not deliver an envelope whose deadline passed while it waited, and say so', async () => {
    const gate = Promise.withResolvers<void>();
    const got: string[] = [];
    const busy = defineAgent({ id: 'busy', name: 'B', version: '1.0.0', description: '', tier: 2 }).onChannel(
      (channel) =>
        void channel.onMessage(({ id }) => {
          got.push(id);
          return gate.promise;
        }),
    );
    await using system = await startSystem({ agents: [busy], workers: 1 });
    const channel = await system.channels.openChannel(HOST, 'busy');
    await channel.send(numbered(channel, 0));
    const deadlineAtMs = Date.now() + 20;
    const late = rejection(channel.send({ ...numbered(channel, 1), metadata: { tier: 0, deadlineAtMs } }));
    const last = channel.send(numbered(channel, 2));
    await until('its time is over', () => Date.now() > deadlineAtMs);
    gate.resolve();
    await last;
    expect((await late).code).toBe('DELIVERY_FAILED');
    expect(got).toEqual([`${HOST}-0`, `${HOST}-2`]);
    const [failure] = (await system.recentEvents()).filter(
      ({ errorCode }) => errorCode === 'DELIVERY_FAILED',
    );
    expect(failure).toMatchObject({ channelId: channel.id, envelopeId: `${HOST}-1`, agentId: HOST });
  });

  it('count an envelope as delivered over which a handler throws or rejects, and report it', async () => {
    await using team = await Correspondence.start([{ id: 'mars' }, { id: 'venus' }]);
    const { id } = await team.open('mars', 'venus');
    await team.write('mars', id, 1, { does: 'throw' });
    await team.write('mars', id, 1, { from: 1, does: 'reject' });
    await team.write('mars', id, 1, { from: 2 });
    expect(codesOf(await team.settled('mars', 3))).toEqual(['sent']);
    expect((await team.seen('venus')).arrived).toEqual(idsOf('mars', 3));
    const failures = await until('both are reported', async () => {
      const events = (await team.system.recentEvents()).filter(
        ({ channelId, type }) => channelId === id && type === 'error',
      );
      return events.length === 2 && events;
    });
    expect(failures).toMatchObject([
      { agentId: 'venus', targetAgentId: 'mars', envelopeId: 'mars-0', reason: 'it does not like it' },
      { agentId: 'venus', envelopeId: 'mars-1', reason: 'it does not like it after all' },
    ]);
    expect((await team.system.roster()).map(({ restarts }) => restarts)).toEqual([0, 0]);
  });

  it('let two write to each other from their handlers, and close from one', async () => {
    await using team = await Correspondence.start([{ id: 'mars' }, { id: 'venus' }]);
    const { id } = await team.open('mars', 'venus');
    await team.write('mars', id, 1, { does: 'reply' });
    await until('the reply', async () => (await team.seen('mars')).arrived.length === 1);
    await team.write('mars', id, 1, { from: 1, does: 'close' });
    await team.channels('mars', (all) => all.length === 0);
    expect((await team.seen('mars')).arrived).toEqual(['venus-0']);
  });

  it('are refused by name, with what a request to the agent would be refused with', async () => {
    await using team = await Correspondence.start([
      { id: 'mars', tier: 2 },
      { id: 'hermit', accepts: 'none' },
      { id: 'picky', accepts: 'declines' },
      { id: 'frail', accepts: 'dies' },
      { id: 'boss', tier: 1 },
      { id: 'special', tier: 3 },
      { id: 'boxed', sandboxId: 'box' },
    ]);
    const refusal = (from: string, to: string, options = {}) =>
      rejection(team.open(from, to, { openTimeoutMs: 20_000, ...options }));
    expect(await refusal('mars', 'hermit')).toEqual({
      code: 'REFUSED',
      message: 'hermit accepts no channels',
    });
    expect(await refusal('mars', 'picky')).toEqual({ code: 'REFUSED', message: 'it wants no letters' });
    expect((await refusal('mars', 'frail')).code).toBe('HANDLER_FAILED');
    expect((await refusal('mars', 'nobody')).code).toBe('AGENT_NOT_FOUND');
    expect((await refusal('mars', 'mars')).code).toBe('INVALID_OPTIONS');
    expect((await refusal('mars', 'special')).code).toBe('TIER_VIOLATION');
    expect((await refusal('mars', 'boss')).code).toBe('ESCALATION_REQUIRED');
    // The way back is judged at once: a channel has two directions.
    expect((await refusal('mars', 'boxed')).code).toBe('SANDBOX_VIOLATION');
    expect((await refusal('boxed', 'mars')).code).toBe('SANDBOX_VIOLATION');
    expect((await refusal('mars', 'boss', { windowSize: 0 })).message).toContain('channel.windowSize');
    for (const agent of ['mars', 'boxed', 'picky', 'frail'])
      await team.channels(agent, (all) => all.length === 0);
    const denied = (await team.system.recentEvents()).filter(({ security }) => security === true);
    expect(denied.map(({ errorCode }) => errorCode)).toEqual([
      'TIER_VIOLATION',
      'ESCALATION_REQUIRED',
      'SANDBOX_VIOLATION',
      'SANDBOX_VIOLATION',
    ]);
  });

  it('are refused by an agent in a process of its own', async () => {
    await using system = await startSystem({ agents: [agent('replier', { isolation: 'process' as const })] });
    expect(await rejection(system.channels.openChannel(HOST, 'replier'))).toEqual({
      code: 'REFUSED',
      message: 'replier accepts no channels',
    });
  });

  it('give whoever accepts leave to answer against the tiers, and judge everything else as ever (C-06, C-32)', async () => {
    await using team = await Correspondence.start([
      { id: 'mars', tier: 2 },
      { id: 'boss', tier: 1 },
    ]);
    const { id } = await team.open('mars', 'boss', { justification: 'it burns' });
    await team.write('mars', id, 2);
    await team.write('boss', id, 2);
    expect(codesOf([...(await team.settled('mars', 2)), ...(await team.settled('boss', 2))])).toEqual([
      'sent',
    ]);
    // Of its own accord the boss still may not.
    const alone = await team.system.send({ ...numbered({ localAgentId: 'boss', remoteAgentId: 'mars' }, 9) });
    expect(alone).toMatchObject({ delivered: false, errorCode: 'TIER_VIOLATION' });
    expect((await rejection(team.open('boss', 'mars'))).code).toBe('TIER_VIOLATION');
    const crossings = (await team.system.recentEvents()).filter(
      ({ sourceTier, targetTier }) => sourceTier === 1 && targetTier === 2,
    );
    expect(crossings.map(({ envelopeId }) => envelopeId)).toEqual(
      expect.arrayContaining(['boss-0', 'boss-1']),
    );
    // A sandbox holds for those who have leave, too, and at once.
    const card = team.system.registry.getById('boss');
    if (card !== undefined) team.system.registry.register({ ...card, sandboxId: 'box' });
    await until('the boss is boxed', async () => {
      await team.write('boss', id, 1, { from: 10 });
      return (await team.settled('boss', 3)).some(({ code }) => code === 'SANDBOX_VIOLATION');
    });
    expect((await team.seen('mars')).channels).toMatchObject([{ status: 'open' }]);
  });

  it('judge what the opener sends by the rules of the moment (N-4.5)', async () => {
    await using team = await Correspondence.start([{ id: 'mars' }, { id: 'venus' }]);
    const { id } = await team.open('mars', 'venus');
    const rule = { sourceTier: 2 as const, requiresEscalationJustification: false };
    await team.system.configure({ tiers: { rules: [{ ...rule, allowedTargetTiers: [0] }] } });
    await team.write('mars', id, 1);
    await team.write('venus', id, 1);
    expect(codesOf(await team.settled('mars', 1))).toEqual(['TIER_VIOLATION']);
    expect(codesOf(await team.settled('venus', 1))).toEqual(['sent']);
    await team.system.configure({ tiers: { rules: [{ ...rule, allowedTargetTiers: [2] }] } });
    await team.write('mars', id, 1, { from: 1 });
    await until('the second', async () => (await team.seen('venus')).arrived.length === 1);
    expect((await team.seen('venus')).arrived).toEqual(['mars-1']);
  });

  it('show in the events of the system, as they happen and afterwards (N-E07)', async () => {
    await using team = await Correspondence.start([{ id: 'mars' }, { id: 'venus' }]);
    const watched: SystemEvent[] = [];
    const stop = await team.system.inspect((event) => watched.push(event));
    const { id } = await team.open('mars', 'venus');
    await team.act('venus', 'close', id);
    await team.channels('mars', (all) => all.length === 0);
    const statuses = (events: readonly SystemEvent[], agentId: string) =>
      events.flatMap((event) =>
        event.type === 'channel-status' && event.agentId === agentId && event.channelId === id
          ? [`${event.place} ${event.channelStatus}`]
          : [],
      );
    const recent = await team.system.recentEvents();
    for (const events of [recent, watched]) {
      // Two threads tell of them, each in its own time.
      await until('all were streamed', () =>
        ['mars', 'venus'].every((agentId) => statuses(watched, agentId).length === 3),
      );
      expect(statuses(events, 'mars')).toEqual(['worker-1 connecting', 'worker-1 open', 'worker-1 closed']);
      expect(statuses(events, 'venus')).toEqual(['worker-2 connecting', 'worker-2 open', 'worker-2 closed']);
    }
    expect(
      recent.find(({ channelStatus, agentId }) => channelStatus === 'closed' && agentId === 'mars'),
    ).toMatchObject({ targetAgentId: 'venus', reason: expect.stringContaining('closed here') });
    // The conversation about the channel itself is the channel.
    const talk = (await team.system.thread(id)).map(({ type, sender }) => `${type} ${sender}`);
    expect(talk).toEqual(expect.arrayContaining(['stream-start mars', 'stream-end venus']));
    await stop();
  });

  it('leave nothing behind when the system stops under them', async () => {
    const team = await Correspondence.start([{ id: 'mars' }, { id: 'venus', listens: false }]);
    const mine = await team.system.channels.openChannel(HOST, 'venus');
    const { id } = await team.open('mars', 'venus');
    await team.write('mars', id, 5);
    const waiting = rejection(mine.send(fromHost(0)));
    await team.system.stop({ drainMs: 50 });
    expect((await waiting).code).toBe('CHANNEL_CLOSED');
    expect([mine.status, team.system.channels.listChannels()]).toEqual(['closed', []]);
    expect((await rejection(team.system.channels.openChannel(HOST, 'venus'))).code).toBe('SYSTEM_STOPPED');
  });
});

describe('Channels of the embedder (N-D08)', () => {
  it('open to agents, are listed, and close together', async () => {
    await using team = await Correspondence.start([{ id: 'mars' }, { id: 'venus' }]);
    const { channels } = team.system;
    const opened = [await channels.openChannel(HOST, 'mars'), await channels.openChannel(HOST, 'venus')];
    expect(channels.listChannels()).toEqual(opened);
    expect(channels.getChannel(opened[1]?.id ?? '')).toBe(opened[1]);
    expect(channels.getChannel('another')).toBeUndefined();
    const got: string[] = [];
    const stop = opened[1]?.onMessage((envelope) => got.push(envelope.id));
    await opened[1]?.send(fromHost(0, 'reply'));
    await until('the reply', () => got.length === 1);
    stop?.();
    await channels.closeAll();
    expect(channels.listChannels()).toEqual([]);
    for (const agent of ['mars', 'venus']) await team.channels(agent, (all) => all.length === 0);
    expect((await rejection((opened[0] as AgentChannel).send(fromHost(1)))).code).toBe('CHANNEL_CLOSED');
    expect((await team.system.roster()).map(({ id }) => id)).toEqual(['mars', 'venus']);
  });

  it('are accepted while it wants them, and refused by name otherwise', async () => {
    await using team = await Correspondence.start([{ id: 'mars' }]);
    const { channels } = team.system;
    expect((await rejection(team.open('mars', HOST))).code).toBe('AGENT_NOT_FOUND');
    const got: string[] = [];
    const stop = await channels.onChannel((channel) => {
      if (channel.remoteAgentId !== 'mars') throw refused('only mars');
      channel.onMessage(({ id }) => got.push(id));
    });
    const { id } = await team.open('mars', HOST);
    await team.write('mars', id, 3);
    await team.settled('mars', 3);
    expect(got).toEqual(idsOf('mars', 3));
    await stop();
    expect(await rejection(team.open('mars', HOST))).toEqual({
      code: 'REFUSED',
      message: 'system/host accepts no channels',
    });
    expect(channels.listChannels()).toMatchObject([{ id, status: 'open' }]);
  });

  it('are opened in the name of inline agents, and of no other', async () => {
    const inline = defineAgent({ id: 'inline', name: 'I', version: '1.0.0', description: '', tier: 2 });
    await using team = await Correspondence.start([{ id: 'mars' }]);
    await team.system.start([inline]);
    const { channels } = team.system;
    const channel = await channels.openChannel('inline', 'mars');
    expect(channel).toMatchObject({ localAgentId: 'inline', remoteAgentId: 'mars', status: 'open' });
    expect((await rejection(channels.openChannel('mars', 'inline'))).message).toContain('lives in worker-1');
    expect((await rejection(channels.openChannel('nobody', 'mars'))).code).toBe('AGENT_NOT_FOUND');
    expect((await rejection(channels.openChannel('', 'mars'))).code).toBe('INVALID_OPTIONS');
    await team.system.stopAgent('inline');
    expect(channel.status).toBe('closed');
    expect((await rejection(channels.openChannel('inline', 'mars'))).message).toContain('is stopped');
  });
});

describe('The definition of who accepts channels', () => {
  it('names what is wrong', () => {
    const define = () => defineAgent({ id: 'a', name: 'A', version: '1.0.0', description: '', tier: 1 });
    for (const [wrong, field] of [
      [() => define().onChannel('none' as never), 'onChannel'],
      [() => define().onChannel(() => undefined, { windowSize: 0 }), 'onChannel.windowSize'],
      [
        () =>
          define()
            .onChannel(() => undefined)
            .onChannel(() => undefined),
        'onChannel',
      ],
      [() => channelsOf({} as never), 'ctx'],
    ] as const) {
      expect(wrong).toThrow(
        expect.objectContaining({ code: 'INVALID_OPTIONS', message: expect.stringContaining(field) }),
      );
    }
  });
});
