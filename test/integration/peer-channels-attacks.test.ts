import {
  type A2AEnvelope,
  capability,
  channelsOf,
  defineAgent,
  SCHEMA_VERSION,
  signingKeyPair,
  startSystem,
  type SystemEvent,
  type Team,
} from 'orrery';
import { webSocket } from 'orrery/websocket';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { BareNode, type Heard, soon } from '../fixtures/peers/bare-node.ts';

const card = (id: string) => ({
  ...{ id, name: id, version: '1.0.0', description: '', tier: 0, protocols: [], endpoints: [] },
  ...{ capabilities: [], revision: 0, origin: 'local', lastSeenAt: 1 },
});

/** A request that is part of a channel, as `evil/imp` or `other/imp` says it. */
const part = (
  n: number,
  { node = 'evil', agent = 'venus', ...channel }: { node?: string; agent?: string; [field: string]: unknown },
  payload: unknown = null,
  more: object = {},
) => ({
  ...{ type: 'request', n, wants: 'value', channel, ...more },
  envelope: {
    ...{
      id: `${node}-${n}`,
      schemaVersion: 1,
      sender: `${node}/imp`,
      recipient: `rome/${agent}`,
      type: 'notification',
    },
    ...{ timestamp: 1, payload, metadata: { tier: 0 } },
  },
});

const call = capability({ id: 'call', description: 'Opens a channel', input: z.string(), output: z.null() });
const opening = { life: '1.1', run: 1, resumes: false };

describe('What another node can do with channels (C-31, N-T04)', () => {
  const keys = { rome: signingKeyPair(), evil: signingKeyPair(), other: signingKeyPair() };
  const got: A2AEnvelope[] = [];
  let rome: Team;
  let address: string;

  beforeEach(async () => {
    got.length = 0;
    const agent = (id: string, tier: 0 | 2, maxAccepted: number) =>
      defineAgent({ id, name: id, version: '1.0.0', description: 'Listens', tier })
        .onChannel((channel) => void channel.onMessage((envelope) => void got.push(envelope)), {
          maxAccepted,
        })
        .handle(call, async (to, ctx) => {
          const channel = await channelsOf(ctx).openChannel(to);
          channel.onMessage((envelope) => void got.push(envelope));
          return null;
        });
    rome = await startSystem({
      agents: [agent('venus', 2, 3), agent('chief', 0, 3)],
      spareThread: false,
      peers: {
        transports: [webSocket()],
        identity: { node: 'rome', key: keys.rome },
        trust: [
          { key: keys.evil.publicKey, node: 'evil', tier: 2, sandboxId: null },
          { key: keys.other.publicKey, node: 'other', tier: 2, sandboxId: null },
        ],
      },
    });
    address = rome.peers.addresses[0] as string;
  });

  afterEach(async () => {
    await rome.stop({ drainMs: 0 });
  });

  const joined = async (node: 'evil' | 'other' = 'evil'): Promise<BareNode> => {
    const bare = await BareNode.open(address, node, keys[node]);
    await bare.join(node);
    await bare.say({ type: 'cards', cards: [card('imp')] });
    return bare;
  };

  /** Opens a channel to venus; where that can be written to. */
  const opened = async (bare: BareNode, n: number, id: string, node = 'evil') => {
    await bare.say(part(n, { node, id, act: 'open' }, opening));
    return ((await bare.outcome(n)) as unknown as { value: { life: string; run: number } }).value;
  };

  const asked = async (bare: BareNode, act: string): Promise<Heard & { readonly n: number }> => {
    for (;;) {
      const found = bare.heard.find(
        ({ type, channel }) => type === 'request' && (channel as { act?: string } | undefined)?.act === act,
      );
      if (found !== undefined) return found as Heard & { readonly n: number };
      await soon();
    }
  };

  it('is to open as many as are accepted, where it may, and to be tainted', async () => {
    await using evil = await joined();
    const { life, run } = await opened(evil, 0, 'c-0');
    await evil.say(part(1, { id: 'c-0', act: 'data', to: life, run }, 'hello'));
    expect(await evil.outcome(1)).toMatchObject({ type: 'done' });
    expect(got).toMatchObject([
      { sender: 'imp', payload: 'hello', metadata: { tier: 2, taint: ['peer:evil'] } },
    ]);
    // Nobody has opened it from here, whatever it claims.
    await evil.say(part(2, { id: 'c-1', act: 'open', agent: 'chief', granted: true }, opening));
    expect(await evil.outcome(2)).toMatchObject({ error: { code: 'ESCALATION_REQUIRED' } });
    // Whoever is written to may answer, whatever the tiers say.
    const called = rome.ask({ agent: 'chief', capability: call }, 'imp');
    const { n, channel, envelope } = await asked(evil, 'open');
    await evil.say({ type: 'done', n, value: { life: '1.1', run: 1 } });
    await called;
    const { payload } = envelope as unknown as { readonly payload: { readonly life: string } };
    const { id } = channel as unknown as { readonly id: string };
    await evil.say(
      part(3, { id, act: 'data', agent: 'chief', to: payload.life, run: 1 }, 'an answer'),
      part(4, { id, act: 'data', agent: 'venus', to: payload.life, run: 1 }, 'to another'),
    );
    expect(await evil.outcome(3)).toMatchObject({ type: 'done' });
    expect(await evil.outcome(4)).toMatchObject({ type: 'done', value: 'closed' });
    expect(got.map(({ payload }) => payload)).toEqual(['hello', 'an answer']);
    const many = Array.from({ length: 2_000 }, (_, at) =>
      part(5 + at, { id: `d-${at}`, act: 'open' }, opening),
    );
    await evil.say(...many.slice(0, 1_000));
    await evil.say(...many.slice(1_000));
    const answers = await Promise.all(many.map(({ n }) => evil.outcome(n)));
    expect(answers.filter(({ type }) => type === 'done')).toHaveLength(2);
    expect(
      new Set(answers.flatMap(({ error }) => (error as { code?: string } | undefined)?.code ?? [])),
    ).toEqual(new Set(['MAILBOX_FULL']));
  });

  it('is not to write over, close, or lose a channel that it does not have, or that another node has', async () => {
    await using other = await joined('other');
    const { life, run } = await opened(other, 0, 'theirs', 'other');
    await using evil = await joined();
    await evil.say(
      part(0, { id: 'theirs', act: 'data', to: life, run }, 'forged'),
      part(1, { id: 'theirs', act: 'close' }, { reason: 'forged' }),
      part(2, { id: 'theirs', act: 'lost' }, { life }),
      part(3, { id: 'none', act: 'ready' }, { life, run: 2 }),
      part(4, { id: 'theirs', act: 'open' }, opening),
      part(5, { id: 'none', act: 'open' }, { ...opening, resumes: true }),
    );
    expect(await evil.outcome(0)).toMatchObject({ type: 'done', value: 'closed' });
    for (const n of [1, 2, 3]) expect(await evil.outcome(n)).toMatchObject({ type: 'done' });
    expect(await evil.outcome(4)).toMatchObject({ error: { code: 'REFUSED' } });
    expect(await evil.outcome(5)).toMatchObject({ error: { code: 'CHANNEL_CLOSED' } });
    await other.say(part(1, { node: 'other', id: 'theirs', act: 'data', to: life, run }, 'mine'));
    expect(await other.outcome(1)).toMatchObject({ type: 'done' });
    expect(got.map(({ payload }) => payload)).toEqual(['mine']);
    const isForgery = ({ reason = '' }: SystemEvent): boolean => reason.includes('writes over a channel of');
    expect((await rome.recentEvents()).some(isForgery)).toBe(true);
  });

  it('is to be refused what makes no sense', async () => {
    await using evil = await joined();
    const said: readonly (readonly [Record<string, unknown>, unknown, object?])[] = [
      [{ id: 'c', act: 'open' }, null],
      [
        { id: 'c', act: 'open' },
        { ...opening, life: 5 },
      ],
      [
        { id: 'c', act: 'open' },
        { ...opening, life: 'x'.repeat(300) },
      ],
      [
        { id: 'c', act: 'open' },
        { ...opening, run: 1e300 },
      ],
      [
        { id: 'c', act: 'open' },
        { ...opening, run: -1 },
      ],
      [{ id: 'c', act: 'close' }, { reason: {} }],
      [{ id: 'c', act: 'open' }, opening, { wants: 'outcome' }],
      [{ id: 'c', act: 'open' }, opening, { wants: 'stream' }],
    ];
    await evil.say(...said.map(([channel, payload, more], n) => part(n, channel, payload, more)));
    for (const n of said.keys())
      expect(await evil.outcome(n)).toMatchObject({ type: 'failed', error: { code: 'INVALID_ENVELOPE' } });
    await evil.say(part(said.length, { id: 'c', act: 'shout' })).catch(() => undefined);
    while (evil.status !== 'closed') await soon();
  });

  it('is to answer no nonsense, and to name no life but its own', async () => {
    await using evil = await joined();
    const first = expect(rome.channels.openChannel('system/host', 'imp')).rejects.toMatchObject({
      code: 'REMOTE_FAILED',
    });
    const { n } = await asked(evil, 'open');
    await evil.say({ type: 'done', n, value: { life: 7, run: 'x' } });
    await first;
    evil.heard.length = 0;
    const second = rome.channels.openChannel('system/host', 'imp');
    const open = await asked(evil, 'open');
    await evil.say({ type: 'done', n: open.n, value: { life: '1.1', run: 1 } });
    const channel = await second;
    const { localAgentId: sender, remoteAgentId: recipient, id } = channel;
    const letter: A2AEnvelope = {
      ...{ id: 'l-1', schemaVersion: SCHEMA_VERSION, sender, recipient, type: 'notification' },
      ...{ timestamp: 1, payload: 'hello' },
    };
    const sent = expect(channel.send(letter)).rejects.toMatchObject({ code: 'REMOTE_FAILED' });
    const data = await asked(evil, 'data');
    expect(data).toMatchObject({ channel: { id, to: '1.1', run: 1 } });
    await evil.say({ type: 'done', n: data.n, value: 'perhaps' });
    await sent;
    // It says that lives are over which are not its own, and that nobody listens any more in the one that is.
    await evil.say(
      part(0, { id, act: 'lost', agent: 'system/host' }, { life: '2.1' }),
      part(1, { id, act: 'ready', agent: 'system/host' }, { life: '2.1', run: Number.MAX_SAFE_INTEGER }),
    );
    for (const at of [0, 1]) expect(await evil.outcome(at)).toMatchObject({ type: 'done' });
    expect(channel.status).toBe('open');
    await evil[Symbol.asyncDispose]();
    while (channel.status !== 'closed') await soon();
    await expect(channel.send(letter)).rejects.toMatchObject({ code: 'CHANNEL_CLOSED' });
  });

  it('is believed on what became of an envelope whose deadline passes meanwhile, and loses the channel with the id', async () => {
    await using evil = await joined();
    const opening = rome.channels.openChannel('system/host', 'imp');
    const open = await asked(evil, 'open');
    await evil.say({ type: 'done', n: open.n, value: { life: '1.1', run: 1 } });
    const channel = await opening;
    const { localAgentId: sender, remoteAgentId: recipient } = channel;
    const deadlineAtMs = Date.now() + 3_000;
    const send = (id: string): Promise<void> =>
      channel.send({
        ...{ id, schemaVersion: SCHEMA_VERSION, sender, recipient, type: 'notification', timestamp: 1 },
        ...{ payload: null, metadata: { tier: 0, deadlineAtMs } },
      });
    const taken = send('l-1');
    const data = await asked(evil, 'data');
    while (Date.now() <= deadlineAtMs) await soon();
    await evil.say({ type: 'done', n: data.n });
    await taken;
    // What is late before it has left is not sent at all.
    await expect(send('l-2')).rejects.toMatchObject({ code: 'DELIVERY_FAILED' });
    await rome.start([
      defineAgent({ id: 'imp', name: 'IMP', version: '1.0.0', description: 'Is of Rome', tier: 2 }),
    ]);
    while (channel.status !== 'closed') await soon();
    expect(await asked(evil, 'close')).toMatchObject({
      envelope: { sender: 'rome/system/host', recipient: 'evil/imp' },
    });
  });
});
