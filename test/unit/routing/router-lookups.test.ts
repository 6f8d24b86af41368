import { describe, expect, it } from 'vitest';
import { cardOf, envelopeOf, offers, standaloneTeam } from './standalone-team.ts';

describe('A2ARouter: other nodes (N-4.4, N-V02, N-E01, N-E02, N-T03)', () => {
  const far = cardOf('far', { tier: 0, ...offers('types.check') });

  it('asks other nodes before it says AGENT_NOT_FOUND', async () => {
    const asked: unknown[] = [];
    const { router, receive, inboxes } = standaloneTeam([cardOf('io')], {
      remoteRegistry: {
        lookup: async (query) => {
          asked.push(query);
          return query.id === 'far' ? [{ card: far, grant: { grantedTier: 2 } }] : [];
        },
      },
    });
    receive('far');
    const found = await router.send(envelopeOf({ sender: 'io', recipient: 'far' }));
    expect(found).toMatchObject({ delivered: true, path: 'remote', targetAgentId: 'far' });
    expect(inboxes.get('far')).toHaveLength(1);
    const lost = await router.send(envelopeOf({ sender: 'io', recipient: 'nowhere' }));
    expect(lost).toMatchObject({
      delivered: false,
      errorCode: 'AGENT_NOT_FOUND',
      error: expect.stringContaining('"nowhere"'),
    });
    await router.send(envelopeOf({ sender: 'io', recipient: 'far' }));
    expect(asked).toEqual([
      { kind: 'agent', id: 'far' },
      { kind: 'agent', id: 'nowhere' },
    ]);
  });

  it('asks other nodes for a capability', async () => {
    const { router, receive } = standaloneTeam([cardOf('io')], {
      remoteRegistry: { lookup: async ({ kind }) => (kind === 'capability' ? [{ card: far }] : []) },
    });
    receive('far');
    const metadata = { tier: 3, routingHint: 'capability' } as const;
    const send = (recipient: string) => router.send(envelopeOf({ sender: 'io', recipient, metadata }));
    expect(await send('types.check')).toMatchObject({
      delivered: true,
      path: 'remote',
      targetAgentId: 'far',
    });
    expect((await send('tea.make')).errorCode).toBe('CAPABILITY_NOT_FOUND');
  });

  const metadata = { tier: 3, routingHint: 'capability' } as const;
  const toTypes = () => envelopeOf({ sender: 'io', recipient: 'types.check', metadata });

  it('asks who takes envelopes first, whoever was registered first', async () => {
    const asked: unknown[] = [];
    const { router, registry, receive } = standaloneTeam([cardOf('io')], {
      remoteRegistry: {
        lookup: async (query) => {
          asked.push(query);
          return [{ card: far }];
        },
      },
    });
    registry.register(cardOf('card-only', offers('types.check')));
    registry.register(cardOf('live', offers('types.check')));
    receive('live');
    expect(await router.send(toTypes())).toMatchObject({ delivered: true, targetAgentId: 'live' });
    expect(asked).toEqual([]);
  });

  it('asks other nodes before it gives up on cards that nobody takes envelopes for', async () => {
    const { router, registry, receive } = standaloneTeam([cardOf('io')], {
      remoteRegistry: { lookup: async () => [{ card: far }] },
    });
    registry.register(cardOf('card-only', offers('types.check')));
    receive('far');
    expect(await router.send(toTypes())).toMatchObject({
      delivered: true,
      path: 'remote',
      targetAgentId: 'far',
    });
  });

  it('carries to a remote agent that has no handler here', async () => {
    const carried: string[] = [];
    const { router, registry } = standaloneTeam([cardOf('io')], {
      carryRemote: async (envelope, agentId) => {
        if (envelope.payload === 'lost') throw new Error('line is down');
        carried.push(agentId);
      },
    });
    registry.mergeRemote(far);
    expect(await router.send(envelopeOf({ sender: 'io', recipient: 'far' }))).toMatchObject({
      delivered: true,
      path: 'remote',
    });
    expect(await router.send(envelopeOf({ sender: 'io', recipient: 'far', payload: 'lost' }))).toMatchObject({
      delivered: false,
      errorCode: 'DELIVERY_FAILED',
      error: 'line is down',
    });
    expect(carried).toEqual(['far']);
  });

  it('lets no peer slip in what was not asked for, nor take the place of a local agent', async () => {
    const impostor = cardOf('io', { tier: 0 });
    const { router, registry, observability } = standaloneTeam([cardOf('io')], {
      remoteRegistry: {
        lookup: async () => [
          { card: impostor },
          { card: cardOf('other') },
          { card: { id: 'far' } },
          { card: null },
        ],
      },
    });
    expect((await router.send(envelopeOf({ sender: 'io', recipient: 'far' }))).errorCode).toBe(
      'AGENT_NOT_FOUND',
    );
    expect(registry.listAll()).toEqual([cardOf('io')]);
    const reasons = observability.getRecentEvents().map(({ errorCode }) => errorCode);
    expect(reasons).toContain('INVALID_CARD');
  });

  it('waits for one answer however many ask, and keeps their order', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    let lookups = 0;
    const { router, receive, inboxes } = standaloneTeam([cardOf('io')], {
      remoteRegistry: {
        lookup: async () => {
          lookups += 1;
          await promise;
          return [{ card: far }];
        },
      },
    });
    receive('far');
    const send = (id: string) => router.send(envelopeOf({ id, sender: 'io', recipient: 'far' }));
    const early = [send('a'), send('b')];
    await Promise.resolve();
    early.push(send('c'));
    resolve();
    for (const id of ['d', 'e', 'f', 'g', 'h']) {
      early.push(send(id));
      await Promise.resolve();
    }
    await Promise.all(early);
    expect(inboxes.get('far')?.map(({ id }) => id)).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']);
    expect(lookups).toBe(1);
  });

  it('gives up on a lookup that fails or takes too long', async () => {
    const { router, registry, clock, observability } = standaloneTeam([cardOf('io')], {
      lookupTimeoutMs: 100,
      remoteRegistry: {
        lookup: ({ id }, signal) => {
          if (id === 'broken') return Promise.reject(new Error('no route'));
          return new Promise((resolve, reject) => {
            signal.addEventListener('abort', () =>
              id === 'far' ? resolve([{ card: far }]) : reject(signal.reason),
            );
          });
        },
      },
    });
    expect((await router.send(envelopeOf({ sender: 'io', recipient: 'broken' }))).errorCode).toBe(
      'AGENT_NOT_FOUND',
    );
    const slow = router.send(envelopeOf({ sender: 'io', recipient: 'far' }));
    await clock.advanceAsync(100);
    expect(await slow).toMatchObject({ errorCode: 'AGENT_NOT_FOUND', latencyMs: 100 });
    expect(registry.getById('far')?.origin).toBe('remote');
    const reasons = observability.getRecentEvents().map(({ reason }) => reason);
    expect(reasons).toContain('The remote lookup of "broken" failed: no route');
    expect(reasons).toContain('The remote lookup of "far" failed: no answer within 100 ms');
    const stuck = router.send(envelopeOf({ sender: 'io', recipient: 'stuck' }));
    await clock.advanceAsync(100);
    expect((await stuck).errorCode).toBe('AGENT_NOT_FOUND');
    const failures = observability.getRecentEvents().filter(({ recipient }) => recipient === 'stuck');
    expect(failures.map(({ reason }) => reason)).toContain(
      'The remote lookup of "stuck" failed: no answer within 100 ms',
    );
    expect(failures.filter(({ reason }) => reason?.startsWith('The remote lookup'))).toHaveLength(1);
    expect(clock.pending).toBe(0);
  });
});
