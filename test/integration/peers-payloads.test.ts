import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { capability, defineAgent, signingKeyPair, startSystem, type SystemEvent, type Team } from 'orrery';
import { agentMesh, envelopeOfMessage, type MeshPeerOptions, readMeshMessage } from 'orrery/agentmesh';
import { webSocket } from 'orrery/websocket';
import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { BareNode, soon } from '../fixtures/peers/bare-node.ts';

const look = capability({ id: 'look', description: 'Looks', input: z.unknown(), output: z.unknown() });
const find = capability({ id: 'search', description: 'Searches', input: z.unknown(), output: z.unknown() });
const got: unknown[] = [];
const venus = defineAgent({ id: 'venus', name: 'VENUS', version: '1.0.0', description: 'Looks', tier: 2 })
  .handle(look, (input) => input)
  .on('notification', ({ payload }) => {
    got.push(payload);
  })
  .on('error', ({ payload }) => {
    got.push(payload);
  });

const FLIGHT = { action: 'search', origin: 'VIE', destination: 'LIS', departure_date: '2026-03-01' };
const search = (parameters: object) => ({
  intent: 'travel/flights/search',
  parameters,
  response_format: { type: 'json' },
});
const card = (id: string) => ({
  ...{ id, name: id, version: '1.0.0', description: '', tier: 2, protocols: [], endpoints: [] },
  ...{
    capabilities: [{ id: 'search', name: 'search', description: '', inputSchema: {}, outputSchema: {} }],
    revision: 0,
    origin: 'local',
    lastSeenAt: 1,
  },
});

describe('Payloads of other nodes', () => {
  const keys = { rome: signingKeyPair(), oslo: signingKeyPair() };
  let rome: Team;
  let oslo: BareNode;
  const folders: string[] = [];

  const start = async (mesh?: MeshPeerOptions): Promise<void> => {
    rome = await startSystem({
      agents: [venus],
      spareThread: false,
      policies: { escalation: 'off' },
      peers: {
        transports: [webSocket()],
        identity: { node: 'rome', key: keys.rome },
        trust: [{ key: keys.oslo.publicKey, node: 'oslo', tier: 2, sandboxId: null }],
        ...(mesh === undefined ? {} : { agentMesh: agentMesh(mesh) }),
      },
    });
    oslo = await BareNode.open(rome.peers.addresses[0] as string, 'oslo', keys.oslo);
    await oslo.join('oslo');
    await oslo.say({ type: 'cards', cards: [card('imp')] });
    while (rome.registry.getRemoteCards().length === 0) await soon();
  };
  let next = 0;
  const ask = async (payload: unknown, schema?: string, more: object = {}) => {
    const n = next++;
    const envelope = {
      ...{ id: `r-${n}`, schemaVersion: 1, sender: 'oslo/imp', recipient: 'rome/venus', type: 'request' },
      ...{ timestamp: 1, payload, metadata: { tier: 2, capability: 'look' } },
      ...(schema === undefined ? {} : { schema }),
      ...more,
    };
    await oslo.say({ type: 'request', n, wants: 'value', deadlineMs: 20_000, envelope });
    return oslo.outcome(n);
  };
  const events = async (type: SystemEvent['type']): Promise<readonly SystemEvent[]> =>
    (await rome.recentEvents()).filter((event) => event.type === type && event.agentId === 'system/peers');
  const folder = (): string => {
    const made = mkdtempSync(join(tmpdir(), 'schemas-'));
    folders.push(made);
    return made;
  };

  afterEach(async () => {
    await oslo[Symbol.asyncDispose]();
    await rome.stop({ drainMs: 0 });
    for (const made of folders.splice(0)) rmSync(made, { recursive: true });
    next = 0;
  });

  it('are handled with a warning where they do not fit the schema of their intent (M-12, M-15, M-16, M-17, C-13)', async () => {
    await start({ directory: false });
    expect(await ask(search(FLIGHT))).toMatchObject({ type: 'done' });
    expect(await ask({ anything: 1 })).toMatchObject({ type: 'done' });
    expect(await events('warning')).toEqual([]);
    expect(await ask(search({ ...FLIGHT, origin: 'Vienna' }))).toMatchObject({
      value: { parameters: { origin: 'Vienna' } },
    });
    expect(await events('warning')).toEqual([
      expect.objectContaining({
        targetAgentId: 'oslo',
        envelopeId: 'r-2',
        sender: 'oslo/imp',
        success: true,
        reason: expect.stringMatching(/agentmesh\/travel\/flight-search\/v1, \/origin must match pattern/),
      }),
    ]);
  });

  it('are refused where this node is strict, but for schemas that it does not know (C-13, M-19)', async () => {
    await start({ directory: false, mode: 'strict' });
    expect(await ask(search({}))).toMatchObject({
      type: 'failed',
      error: { code: 'INVALID_PAYLOAD', message: expect.stringContaining('flight-search/v1') },
    });
    expect(await ask({ total: 1 }, 'x-mycompany/invoice/v1')).toMatchObject({ type: 'done' });
    expect(await ask(search(FLIGHT))).toMatchObject({ type: 'done' });
    expect(await events('error')).toEqual([
      expect.objectContaining({ errorCode: 'INVALID_PAYLOAD', targetAgentId: 'oslo' }),
    ]);
    expect((await events('warning')).map(({ reason }) => reason)).toEqual([
      expect.stringContaining('there is no schema "x-mycompany/invoice/v1"'),
    ]);
  });

  it('are not looked at where this node is silent, and without AgentMesh (C-13, M-18)', async () => {
    await start({ directory: false, mode: 'silent' });
    expect(await ask(search({}))).toMatchObject({ type: 'done' });
    expect(await events('warning')).toEqual([]);
    await oslo[Symbol.asyncDispose]();
    await rome.stop({ drainMs: 0 });
    next = 0;
    await start();
    expect(await ask(search({}), 'x-mycompany/invoice/v1')).toMatchObject({ type: 'done' });
    expect(await events('warning')).toEqual([]);
  });

  it('are checked by schemas of a folder; no id leads out of it (M-20)', async () => {
    const outside = folder();
    const directory = join(outside, 'schemas');
    mkdirSync(join(directory, 'x-mycompany', 'invoice'), { recursive: true, mode: 0o700 });
    const schema = JSON.stringify({ type: 'object', required: ['total'] });
    writeFileSync(join(directory, 'x-mycompany', 'invoice', 'v1.json'), schema);
    writeFileSync(join(directory, 'x-mycompany', 'invoice', 'v2.json'), 'no schema');
    writeFileSync(join(outside, 'v1.json'), JSON.stringify(false));
    await start({ directory, mode: 'strict' });
    expect(await ask({ total: 1 }, 'x-mycompany/invoice/v1')).toMatchObject({ type: 'done' });
    expect(await ask({ sum: 1 }, 'x-mycompany/invoice/v1')).toMatchObject({
      error: { code: 'INVALID_PAYLOAD' },
    });
    const paths = ['../v1', 'x-mycompany/../../v1', '/etc/passwd', 'x-mycompany\\invoice\\v1', '__proto__'];
    for (const id of paths) expect(await ask({}, id)).toMatchObject({ type: 'done' });
    expect((await events('warning')).map(({ reason }) => reason)).toEqual([
      expect.stringMatching(/v2.*is not used/),
      ...paths.map((id) => expect.stringContaining(`there is no schema "${id}"`)),
    ]);
  });

  it('of answers are checked by the schema that they name (M-15, M-17)', async () => {
    await start({ directory: false, mode: 'strict' });
    const answered = async (results: unknown): Promise<unknown> => {
      const before = oslo.heard.length;
      const asked = rome
        .ask({ agent: 'imp', capability: find }, {}, { timeoutMs: 20_000 })
        .catch(({ code }: { code: string }) => code);
      const request = (): (typeof oslo.heard)[number] | undefined =>
        oslo.heard.slice(before).find(({ type }) => type === 'request');
      while (request() === undefined) await soon();
      const value = { status: 'success', results, schema: 'agentmesh/travel/flight-search/v1' };
      await oslo.say({ type: 'done', n: request()?.['n'], value });
      return asked;
    };
    const flight = { flight_number: 'OS1', price: 9, currency: 'EUR' };
    expect(await answered([flight])).toMatchObject({ results: [flight] });
    expect(await answered([{ ...flight, price: 'cheap' }])).toBe('INVALID_PAYLOAD');
  });

  it('of all five types are envelopes of a team, and each is checked as its type has it (C-35, M-21)', async () => {
    await start({ directory: false });
    const types: readonly (readonly [string, object])[] = [
      ['request', search(FLIGHT)],
      ['response', { status: 'success', results: [], schema: 'agentmesh/travel/flight-search/v1' }],
      ['status', { status: 'working', progress: 0.5, estimated_completion_seconds: 3, message: 'half' }],
      ['error', { code: 'timeout', message: 'late', retry_after_seconds: 2 }],
      ['close', { reason: 'completed' }],
    ];
    const say = async (type: string, payload: unknown, sequence: number) => {
      const wire = { type, session_id: 's1', sequence, timestamp: Date.now(), payload };
      const n = next++;
      const parties = { id: `m-${n}`, sender: 'oslo/imp', recipient: 'rome/venus', tier: 2 } as const;
      const { metadata, ...envelope } = envelopeOfMessage(readMeshMessage(wire, Date.now()), parties);
      const named = {
        ...envelope,
        metadata: { ...metadata, ...(type === 'request' && { capability: 'look' }) },
      };
      await oslo.say({
        ...{ type: 'request', n, wants: type === 'request' ? 'value' : 'outcome', deadlineMs: 20_000 },
        envelope: named,
      });
      return oslo.outcome(n);
    };
    got.length = 0;
    expect(await say('request', types[0]?.[1], 0)).toMatchObject({ type: 'done', value: types[0]?.[1] });
    for (const at of [2, 3, 4])
      expect(await say(...(types[at] as [string, object]), at - 1)).toMatchObject({ type: 'done' });
    expect(got).toEqual(types.slice(2).map(([, payload]) => payload));
    expect(await events('warning')).toEqual([]);
    expect(await say('status', { status: 'working' }, 4)).toMatchObject({ type: 'done' });
    expect(await say('status', types[2]?.[1], 9)).toMatchObject({ type: 'done' });
    expect(await say('status', types[2]?.[1], 9)).toMatchObject({
      type: 'failed',
      error: { code: 'REFUSED' },
    });
    expect((await events('warning')).map(({ success, reason }) => [success, reason])).toEqual([
      [true, expect.stringContaining('it is no payload of STATUS')],
      [true, expect.stringContaining('sequence gap detected: number 9 of the session s1')],
      [false, expect.stringContaining('duplicate sequence detected')],
    ]);
    expect(got).toHaveLength(5);
  });
});
