import { describe, expect, it } from 'vitest';
import { clientPort, embedderPort } from '../../../../actors/agent-port/client-port.ts';
import { routerPort } from '../../../../actors/agent-port/router-port.ts';
import type { AgentClient, Outgoing, Sent } from '../../../../runtime/public.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';
import { cardOf, envelopeOf, offers, standaloneTeam } from '../../routing/standalone-team.ts';

const seams = { clock: new FakeClock(), newId: () => 'id' };
const letter = { recipient: 'mars', type: 'notification', payload: { text: 'hello' } } as const;

/** A client that sends nothing and has what is sent by it. */
function clientOfSun(result: Partial<Sent> = {}) {
  const sent: Outgoing[] = [];
  const noted: unknown[] = [];
  const client = {
    agentId: 'sun',
    seams,
    capabilities: ['shine'],
    mailbox: { waiting: 1, capacity: 9 },
    taint: ['web:example.org'],
    records: undefined,
    handles: () => true,
    isKeptFor: () => true,
    note: (event: unknown) => noted.push(event),
    send: (message: Outgoing): Sent => {
      sent.push(message);
      const { recipient } = message;
      return { delivered: true, path: 'local', targetAgentId: recipient, envelopeId: 'one', ...result };
    },
  };
  return { client: client as unknown as AgentClient, sent, noted };
}

const event = { type: 'negotiation', agentId: 'sun', reason: 'It is over', success: true } as const;

describe('The port of the embedder', () => {
  it('knows nothing before it is opened, and opens its mailbox once', async () => {
    const { client, noted } = clientOfSun();
    let opened = 0;
    const open = async () => {
      opened += 1;
      return client;
    };
    const port = embedderPort({ agentId: 'sun', seams, open });
    port.note(event);
    expect([port.agentId, port.capabilities, port.mailbox, port.taint, port.work]).toEqual([
      'sun',
      [],
      { waiting: 0, capacity: 0 },
      undefined,
      undefined,
    ]);
    expect([port.handles('notification'), port.isKeptFor('mars'), port.behalf()]).toEqual([
      false,
      false,
      undefined,
    ]);
    await port.open();
    await port.open();
    port.note(event);
    expect([opened, noted]).toEqual([1, [event]]);
    expect([port.capabilities, port.mailbox.capacity, port.taint]).toEqual([
      ['shine'],
      9,
      ['web:example.org'],
    ]);
    expect([port.handles('notification'), port.isKeptFor('mars')]).toEqual([true, true]);
  });
});

describe('The port of an agent', () => {
  it('has sent a message when it returns, and says under which id', () => {
    const { client, sent } = clientOfSun();
    const ids: string[] = [];
    void clientPort(client).send(letter, (envelopeId) => ids.push(envelopeId));
    expect([sent, ids]).toEqual([[letter], ['one']]);
  });

  it('sends nothing that JSON cannot carry, and says so in the result', async () => {
    const { client, sent } = clientOfSun();
    const result = await clientPort(client).send({ ...letter, payload: { run: () => 1 } });
    expect(result).toMatchObject({ delivered: false, errorCode: 'NOT_SERIALISABLE', targetAgentId: 'mars' });
    expect(sent).toEqual([]);
  });

  it('says of an agent that is still to come that it is not here', async () => {
    const { client } = clientOfSun({ delivered: false, errorCode: 'AGENT_NOT_FOUND' });
    const codeWhile = async (isStarting: boolean) =>
      (await clientPort(client, { isStarting: () => isStarting }).send(letter)).errorCode;
    expect([await codeWhile(true), await codeWhile(false)]).toEqual(['NOT_HERE', 'AGENT_NOT_FOUND']);
  });
});

describe('The port over a router', () => {
  const team = () =>
    standaloneTeam([
      cardOf('sun', { tier: 0 }),
      cardOf('mars', { tier: 0, ...offers('dig', 'carry') }),
      cardOf('venus', { tier: 0, ...offers('dig') }),
    ]);

  it('sends as its agent, says the id before the envelope is there, and judges without sending', async () => {
    const { router, registry, inboxes } = team();
    const port = routerPort({ agentId: 'sun', router, registry, seams });
    const seen: string[] = [];
    const message = { ...letter, capability: 'dig', metadata: { swarm: { epoch: 1 } } };
    expect(port.judge(message)).toBe(undefined);
    expect(port.judge({ ...message, recipient: 'pluto' })?.code).toBe('AGENT_NOT_FOUND');
    const { envelopeId } = await port.send(message, (id) =>
      seen.push(id, String(inboxes.get('mars')?.length ?? 0)),
    );
    expect(seen).toEqual([envelopeId, '0']);
    expect(inboxes.get('mars')).toMatchObject([
      { id: envelopeId, sender: 'sun', metadata: { capability: 'dig', swarm: { epoch: 1 } } },
    ]);
    expect(await port.send({ ...letter, recipient: 'pluto' })).toMatchObject({ delivered: false });
  });

  it('offers whoever has all capabilities, and shows what comes until it is told to stop', async () => {
    const { router, registry } = team();
    const port = routerPort({ agentId: 'sun', router, registry, seams });
    expect([port.whoOffers(['dig']), port.whoOffers(['dig', 'carry'])]).toEqual([
      ['mars', 'venus'],
      ['mars'],
    ]);
    const heard: string[] = [];
    const stop = port.listen(({ id }) => heard.push(id));
    for (const id of ['first', 'second']) {
      await router.send(envelopeOf({ id, sender: 'mars', recipient: 'sun', type: 'notification' }));
      stop();
    }
    expect(heard).toEqual(['first']);
  });

  it('has what is sent belong to the envelope that its agent is handling', async () => {
    const { router, registry, inboxes } = team();
    const handling = envelopeOf({
      id: 'asked',
      sender: 'venus',
      recipient: 'sun',
      type: 'request',
      correlationId: 'talk',
      metadata: { tier: 0, deadlineAtMs: 9_000_000_000_000 },
    });
    const port = routerPort({ agentId: 'sun', router, registry, seams, handling });
    expect(port.work).toMatchObject({ envelopeId: 'asked', correlationId: 'talk', isOver: false });
    await port.send(letter);
    expect(inboxes.get('mars')).toMatchObject([
      { correlationId: 'talk', metadata: { deadlineAtMs: 9_000_000_000_000 } },
    ]);
  });
});
