import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { A2AChannel } from '../../../runtime/channels/a2a-channel.ts';
import {
  type Challenges,
  channelSigner,
  type GreetingFields,
  signProof,
} from '../../../runtime/channels/channel-proof.ts';
import type { ChannelManagerOptions } from '../../../runtime/channels/channel-manager.ts';
import type { AskedChannel } from '../../../runtime/channels/credentials.ts';
import { signingKeyPair } from '../../../runtime/protocol/signing.ts';
import { AgentRegistry } from '../../../runtime/routing/agent-registry.ts';
import { knownPeers } from '../../../runtime/channels/known-peers.ts';
import { ChannelPair, moves, numbered } from '../../fixtures/channel-pair.ts';
import { helloOf, RawPeer } from '../../fixtures/raw-peer.ts';
import { rejection } from '../../fixtures/until.ts';
import { cardOf } from '../routing/standalone-team.ts';

const keys = { mars: signingKeyPair(), venus: signingKeyPair(), thief: signingKeyPair() };
const cards = { mars: cardOf('mars', { tier: 1 }), venus: cardOf('venus', { tier: 2 }) };
const signers = {
  mars: channelSigner(cards.mars, keys.mars),
  venus: channelSigner(cards.venus, keys.venus),
};

const signed = (agentId: 'mars' | 'venus'): Partial<ChannelManagerOptions> => ({
  proofs: 'required',
  signer: (id) => (id === agentId ? signers[agentId] : undefined),
});

/** Both ends sign and want proofs; what `admit` was asked at either is kept. */
function signedPair(
  options: Partial<ChannelManagerOptions> = {},
  hereOptions: Partial<ChannelManagerOptions> = {},
): { pair: ChannelPair; asked: AskedChannel[] } {
  const asked: AskedChannel[] = [];
  const admit = (one: AskedChannel): boolean => {
    asked.push(one);
    return true;
  };
  const pair = new ChannelPair({
    options: { ...signed('venus'), admit, ...options },
    hereOptions: { ...signed('mars'), admit, ...hereOptions },
  });
  return { pair, asked };
}

async function refusedOpening(pair: ChannelPair): Promise<{ code: string; message: string }> {
  await pair.there.listen();
  const refused = rejection(pair.here.openChannel('mars', 'venus'));
  await pair.pass(40_000);
  expect(pair.there.listChannels()).toEqual([]);
  return refused;
}

/** What the real `mars` said on the first connection, as it crossed. */
const saidBy = (pair: ChannelPair, direction: 'in' | 'out'): Record<string, unknown>[] =>
  pair.faulty.sent
    .filter((one) => one.direction === direction)
    .map(({ frame }) => JSON.parse(frame) as Record<string, unknown>);

/** The proof of `key` over what a raw peer says, as the end that opens, or as one that accepts. */
function proofOf(
  said: Record<string, unknown>,
  challenges: Challenges,
  { isWelcome = false, key = keys.mars, card = cards.mars } = {},
) {
  const { resumes, ...greeting } = said as unknown as GreetingFields;
  const words = isWelcome || resumes === undefined ? greeting : { ...greeting, resumes };
  return signProof(channelSigner(card, key), words, challenges);
}

/** A raw peer that says hello as `mars`, and answers the challenge with what `answer` makes of it. */
async function answering(
  pair: ChannelPair,
  hello: object,
  answer: (challenge: string) => object,
): Promise<RawPeer> {
  const peer = await RawPeer.connect(pair.network.transport(), 'there');
  peer.say(hello);
  await pair.pass(1);
  const challenge = peer.heard.find(({ type }) => type === 'challenge');
  peer.say(answer(String(challenge?.['nonce'])));
  await pair.pass(1);
  return peer;
}

describe('a signed hello (C-31, N-3.2)', () => {
  it('lets both ends know card and key of the other before the channel opens', async () => {
    const { pair, asked } = signedPair();
    const channel = await pair.open();
    const identity = { channelId: channel.id, resumes: false };
    expect(asked).toEqual([
      {
        ...identity,
        localAgentId: 'venus',
        remoteAgentId: 'mars',
        isOurs: false,
        transport: 'local',
        proof: { card: cards.mars, publicKey: keys.mars.publicKey },
      },
      {
        ...identity,
        localAgentId: 'mars',
        remoteAgentId: 'venus',
        isOurs: true,
        proof: { card: cards.venus, publicKey: keys.venus.publicKey },
      },
    ]);
    const sent = pair.send(channel, numbered(0));
    await pair.pass(1);
    expect([sent.outcome, pair.arrived.there]).toEqual(['sent', ['mars-0']]);
  });

  it('is given on each connection anew, under the key of the first one', async () => {
    const { pair, asked } = signedPair();
    const channel = await pair.open();
    pair.faulty.drop();
    await pair.pass(1_000);
    expect([channel.status, asked.map(({ resumes }) => resumes)]).toEqual([
      'open',
      [false, false, true, true],
    ]);
    const proofs = saidBy(pair, 'out').filter(({ type }) => type === 'proof');
    const signatures = proofs.map(({ proof }) => (proof as { signature: string }).signature);
    expect(new Set(signatures).size).toBe(2);
  });

  it('gets in while hundreds have said hello and prove nothing, and hundreds say nothing', async () => {
    const { pair } = signedPair();
    await pair.there.listen();
    const connect = (): Promise<RawPeer> => RawPeer.connect(pair.network.transport(), 'there');
    const unproved = await Promise.all(Array.from({ length: 200 }, connect));
    for (const [at, one] of unproved.entries()) one.say(helloOf({ channel: `c${at}`, nonce: 'n' }));
    await pair.pass(1);
    const silent = await Promise.all(Array.from({ length: 200 }, connect));
    const opening = pair.here.openChannel('mars', 'venus');
    await pair.pass(1);
    expect((await opening).status).toBe('open');
    const isThere = ({ lostBecause }: RawPeer): boolean => lostBecause === undefined;
    // The one that has got in took a place of each kind.
    expect([unproved, silent].map((some) => some.filter(isThere).length)).toEqual([63, 63]);
    expect([unproved, silent].map((some) => some.findIndex(isThere))).toEqual([137, 137]);
    await pair.there.closeAll();
    expect(pair.leftOver()).toBe(0);
  });

  it('is refused when nobody signs, by the one who asks and by the one who is asked', async () => {
    const nobody = { signer: () => undefined };
    const unsigned = await refusedOpening(signedPair({}, nobody).pair);
    expect(unsigned).toEqual({ code: 'REFUSED', message: expect.stringContaining('nobody here signs') });
    const { pair } = signedPair(nobody);
    const unanswered = await refusedOpening(pair);
    expect(unanswered).toEqual({ code: 'CHANNEL_CLOSED', message: expect.stringContaining('not opened') });
    expect(pair.events.here).toContainEqual(
      expect.objectContaining({
        type: 'frame-skipped',
        fault: 'forged',
        reason: '"venus" brings no proof of who it is',
      }),
    );
  });

  it('is not needed where no proof is required, and may still be asked for by one end', async () => {
    const { pair } = signedPair({ proofs: 'none' });
    expect((await pair.open()).status).toBe('open');
    const { pair: other } = signedPair({}, { proofs: 'none' });
    expect((await other.open()).status).toBe('open');
  });

  it('is refused when it was recorded on another connection', async () => {
    const { pair } = signedPair();
    const channel = await pair.open();
    const [hello, proof] = saidBy(pair, 'out').filter(({ type }) => type === 'hello' || type === 'proof');
    await channel.close();
    await pair.pass(1);
    const thief = await answering(pair, hello as object, () => proof as object);
    expect(thief.types()).toEqual(['challenge', 'refuse']);
    expect(pair.events.there).toContainEqual(
      expect.objectContaining({
        type: 'hello-refused',
        errorCode: 'REFUSED',
        reason: expect.stringContaining('does not fit what it says on this connection'),
      }),
    );
    await Promise.all([pair.here.closeAll(), pair.there.closeAll()]);
    expect(pair.leftOver()).toBe(0);
  });

  it('is refused when anything of it was changed on the way', async () => {
    const other = fc.constantFrom<readonly [string, unknown]>(
      ['channel', 'c2'],
      ['from', 'venus'],
      ['to', 'mars'],
      ['resumes', true],
      ['received', 1],
      ['windowSize', 9],
      ['maxFrameBytes', 65_537],
      ['nonce', 'another'],
      ['challenge', 'another'],
      ['end', 'accepts'],
      ['card', JSON.stringify({ ...cards.mars, tier: 0 })],
      ['card', JSON.stringify(cards.venus)],
      ['card', '{'],
      ['publicKey', keys.thief.publicKey],
      ['publicKey', 'none'],
      ['signature', ''],
      ['signature', 'A'.repeat(86)],
    );
    await fc.assert(
      fc.asyncProperty(fc.option(other, { nil: undefined }), async (change) => {
        const { pair } = signedPair({ hosts: () => true });
        await pair.there.listen();
        const [field, value] = change ?? ['', undefined];
        const hello = helloOf({ nonce: 'asked-back' });
        const said: Record<string, unknown> = { ...hello, [field]: field in hello ? value : undefined };
        const peer = await answering(pair, said, (challenge) => {
          const ofReader = field === 'challenge' ? String(value) : challenge;
          const challenges = { ofReader, ofGiver: 'asked-back' };
          const sound = proofOf(hello, challenges, { isWelcome: field === 'end' });
          const proof = { ...sound, ...(field in sound ? { [field]: value } : {}) };
          return { type: 'proof', channel: said['channel'], proof };
        });
        expect(peer.types()).toEqual(['challenge', change === undefined ? 'welcome' : 'refuse']);
      }),
      { numRuns: 150 },
    );
  });

  it('does not resume a channel under another key, and leaves that channel alone', async () => {
    const { pair } = signedPair();
    const channel = await pair.open();
    const hello = helloOf({ channel: channel.id, resumes: true, nonce: 'n' });
    const thief = await answering(pair, hello, (ofReader) => ({
      type: 'proof',
      channel: channel.id,
      proof: proofOf(hello, { ofReader, ofGiver: 'n' }, { key: keys.thief }),
    }));
    expect(thief.types()).toEqual(['challenge', 'refuse']);
    const sent = pair.send(channel, numbered(0));
    await pair.pass(1);
    expect([sent.outcome, moves(pair.events.there)]).toEqual(['sent', ['connecting>open']]);
  });

  it('is not taken from an impostor who welcomes, and the real one is found afterwards', async () => {
    const { pair } = signedPair();
    const impostors: RawPeer[] = [];
    const listening = pair.network
      .transport('there')
      .listen((connection) => impostors.push(new RawPeer(connection)));
    const opening = pair.here.openChannel('mars', 'venus');
    await pair.pass(1);
    const { channel, nonce } = (impostors[0] as RawPeer).heard[0] as { channel: string; nonce: string };
    const greeting = helloOf({ channel, from: 'venus', to: 'mars' });
    const challenges = { ofReader: nonce, ofGiver: '' };
    const proof = proofOf(greeting, challenges, { isWelcome: true, key: keys.thief, card: cards.venus });
    impostors[0]?.say({ ...greeting, type: 'welcome', proof: { ...proof, publicKey: keys.venus.publicKey } });
    await (await listening).close();
    await pair.there.listen();
    await pair.pass(3_000);
    expect((await opening).status).toBe('open');
    expect(pair.events.here).toContainEqual(
      expect.objectContaining({ type: 'frame-skipped', fault: 'forged' }),
    );
  });

  it('is refused with the card of another agent, signed as it should be', async () => {
    const borrowed = channelSigner(cards.venus, keys.mars);
    const { pair } = signedPair({}, { signer: () => borrowed });
    expect((await refusedOpening(pair)).message).toContain('"mars" shows the card of "venus"');
  });

  it('is not taken from whoever answers under another key when the channel resumes', async () => {
    const { pair } = signedPair();
    const channel = await pair.open();
    await pair.there.closeAll();
    await pair.pass(1);
    expect(channel.status).toBe('closed');
    const next = await pair.open();
    pair.faulty.halfOpen();
    const impostors: RawPeer[] = [];
    await pair.there.closeAll();
    const { close } = await pair.network
      .transport('there')
      .listen((connection) => impostors.push(new RawPeer(connection)));
    await pair.pass(200);
    const impostor = impostors.at(-1) as RawPeer;
    const { nonce, received } = impostor.heard[0] as { nonce: string; received: number };
    const greeting = helloOf({ channel: next.id, from: 'venus', to: 'mars', received });
    delete greeting['resumes'];
    const challenges = { ofReader: nonce, ofGiver: '' };
    const proof = proofOf(greeting, challenges, { isWelcome: true, key: keys.thief, card: cards.venus });
    impostor.say({ ...greeting, type: 'welcome', proof });
    await pair.pass(10);
    expect(next.status).toBe('reconnecting');
    expect(pair.events.here.at(-1)).toMatchObject({
      type: 'frame-skipped',
      fault: 'forged',
      reason: 'a welcome under another key',
    });
    await close();
    await pair.here.closeAll();
  });

  it('turns away who says something else instead of a proof, or says it of another channel', async () => {
    for (const said of [{ type: 'ping', channel: 'c1' }, helloOf()]) {
      const { pair } = signedPair();
      await pair.there.listen();
      const peer = await answering(pair, helloOf(), () => said);
      expect([peer.types(), peer.lostBecause === undefined]).toEqual([['challenge'], false]);
      expect(pair.there.counts()['connection-refused']).toBe(1);
      await pair.there.closeAll();
      expect(pair.leftOver()).toBe(0);
    }
  });
});

describe('admit (C-31)', () => {
  it('may take its time, and what was lost meanwhile leaves nothing', async () => {
    for (const outcome of ['lets in', 'lost', 'throws', 'is too late'] as const) {
      const decided = Promise.withResolvers<boolean>();
      const { pair } = signedPair({ admit: () => decided.promise });
      await pair.there.listen();
      const opening = pair.here.openChannel('mars', 'venus');
      opening.catch(() => undefined);
      await pair.pass(10);
      expect(pair.there.listChannels()).toEqual([]);
      if (outcome === 'lost') {
        pair.faulty.isDown = true;
        pair.faulty.drop();
      }
      if (outcome === 'is too late') await pair.pass(30_000);
      if (outcome === 'throws') decided.reject(new Error('no answer'));
      else decided.resolve(true);
      await pair.pass(10);
      if (outcome === 'throws')
        expect(await rejection(opening)).toEqual({
          code: 'REFUSED',
          message: expect.stringContaining('cannot be said: no answer'),
        });
      if (outcome === 'is too late') expect((await rejection(opening)).code).toBe('CHANNEL_CLOSED');
      if (outcome === 'lost') expect(pair.there.listChannels()).toEqual([]);
      if (outcome === 'lets in') {
        await pair.pass(60_000);
        expect([(await opening).status, moves(pair.events.there)]).toEqual(['open', ['connecting>open']]);
      }
      await Promise.all([pair.here.closeAll(), pair.there.closeAll()]);
      await pair.pass(10);
      expect([outcome, pair.leftOver()]).toEqual([outcome, 0]);
    }
  });

  it('keeps out who answers, too', async () => {
    const admit = ({ isOurs }: AskedChannel) =>
      isOurs ? ({ code: 'TIER_VIOLATION', reason: 'not under this key' } as const) : true;
    const { pair } = signedPair({}, { admit });
    expect(await refusedOpening(pair)).toEqual({
      code: 'TIER_VIOLATION',
      message: expect.stringContaining('not under this key'),
    });
  });

  it('takes in the card of a known peer, judged by what it was granted', async () => {
    const registry = new AgentRegistry();
    registry.register(cardOf('venus'));
    const grantOf = (publicKey: string) =>
      publicKey === keys.mars.publicKey ? { grantedTier: 2 as const, nodeId: 'node-2' } : undefined;
    const { pair } = signedPair({ admit: knownPeers({ registry, grantOf }) });
    await pair.open();
    expect(registry.getById('mars')).toMatchObject({ tier: 1, origin: 'remote' });
    expect(registry.table.get('mars')?.party).toMatchObject({ tier: 2 });
  });

  it.each([
    ['an unknown key', () => undefined, 'is not known under its key'],
    [
      'a card of a local agent',
      () => ({}),
      "is local here, or another node's; a remote card does not replace",
    ],
  ])('keeps out %s', async (what, grantOf, reason) => {
    const registry = new AgentRegistry();
    const ours = cardOf('mars', { tier: 0, description: 'our own' });
    if (what === 'a card of a local agent') registry.register(ours);
    const { pair } = signedPair({ admit: knownPeers({ registry, grantOf }) });
    expect((await refusedOpening(pair)).message).toContain(reason);
    if (what === 'a card of a local agent') expect(registry.getById('mars')).toEqual(ours);
    else expect(registry.getById('mars')).toBeUndefined();
  });

  it("keeps out a card of another node's agent", async () => {
    const registry = new AgentRegistry();
    const theirs = cardOf('mars', { description: 'of node 2' });
    registry.mergeRemote(theirs, { nodeId: 'node-2' });
    const grantOf = () => ({ grantedTier: 1 as const, nodeId: 'node-3' });
    const { pair } = signedPair({ admit: knownPeers({ registry, grantOf }) });
    expect((await refusedOpening(pair)).message).toContain("another node's");
    expect(registry.getById('mars')).toMatchObject({ description: 'of node 2' });
  });

  it('keeps out who proves nothing', async () => {
    const registry = new AgentRegistry();
    const { pair } = signedPair({ proofs: 'none', admit: knownPeers({ registry, grantOf: () => ({}) }) });
    expect((await refusedOpening(pair)).message).toContain('has proved nothing');
    expect((pair.remote as A2AChannel | undefined)?.status).toBeUndefined();
  });
});
