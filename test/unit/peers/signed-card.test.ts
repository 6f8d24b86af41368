import { sign } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  MAX_CARD_BYTES,
  readSignedCard,
  type ReadCard,
  type SignedCard,
} from '../../../runtime/peers/signed-card.ts';
import { signingKeyPair } from '../../../runtime/protocol/signing.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { CardNode, overTheWire } from '../../fixtures/peers/card-node.ts';
import { cardOf, offers } from '../routing/standalone-team.ts';

const clock = new FakeClock();
const mars = new CardNode('mars', clock);
const thief = new CardNode('mars', clock);
const signed = mars.signed(cardOf('writer', { tier: 1, ...offers('text.write') }), { revision: 3 });

const faultOf = (changed: object): string => {
  const read = readSignedCard({ ...signed, ...changed });
  if (typeof read !== 'string') throw new Error('It was read');
  return read;
};

describe('A signed card (C-02, N-1.7)', () => {
  it('is read after it has crossed, with every field of the card (N-P05)', () => {
    const read = readSignedCard(overTheWire(signed)) as ReadCard;
    expect(read.card).toEqual(cardOf('writer', { tier: 1, ...offers('text.write') }));
    expect(read.signed).toEqual(signed);
    expect(Object.isFrozen(read.card?.capabilities)).toBe(true);
  });

  it('without a card says that the agent is withdrawn', () => {
    const withdrawal = mars.withdrawn('writer');
    expect(readSignedCard(overTheWire(withdrawal))).toEqual({ signed: withdrawal, card: undefined });
  });

  it.each([
    ['nodeId', 'venus'],
    ['publicKey', thief.publicKey],
    ['agentId', 'reader'],
    ['bootEpoch', 2],
    ['revision', 4],
    ['issuedAtMs', signed.issuedAtMs - 1],
    ['expiresAtMs', signed.expiresAtMs + 1],
    ['card', JSON.stringify(cardOf('writer', { tier: 0 }))],
    ['card', undefined],
    ['signature', mars.signed('writer').signature],
  ] as const)('is not read with another %s than was signed', (field, value) => {
    expect(faultOf({ [field]: value })).toMatch(
      /^signedCard\.signature is "[\w-]{86}", which the key "[\w-]{43}" has not made over this card$/,
    );
  });

  it.each([
    ['nodeId', 'a/b', 'a name of at most 128 characters, without "/" and spaces'],
    ['nodeId', '', 'a name of at most 128 characters, without "/" and spaces'],
    ['nodeId', 'a\u202eb', 'a name of at most 128 characters, without "/" and spaces'],
    ['nodeId', 'remote', 'a name that is not reserved'],
    ['agentId', '*', 'an id that is not reserved'],
    ['agentId', 'system/host', 'an id that is not reserved'],
    ['agentId', 'x'.repeat(1_025), 'a text of at most 1024 characters'],
    ['publicKey', 'abc', 'a raw Ed25519 public key in base64url'],
    ['signature', `${signed.signature.slice(0, 85)}B`, 'an Ed25519 signature in base64url'],
    ['bootEpoch', -1, 'a number of at least 0'],
    ['revision', 0.5, 'a whole number'],
    ['expiresAtMs', signed.issuedAtMs, 'a time after issuedAtMs'],
    ['card', 'x'.repeat(MAX_CARD_BYTES + 1), 'a text of at most 65536 bytes'],
    ['card', 'ü'.repeat(MAX_CARD_BYTES / 2 + 1), 'a text of at most 65536 bytes'],
    ['extra', 1, 'expected no field of this name'],
  ] as const)('whose %s is %j is not read, and the fault says so', (field, value, expected) => {
    const fault = faultOf({ [field]: value });
    expect(fault).toContain(`signedCard.${field} is `);
    expect(fault).toContain(expected);
    expect(fault.length).toBeLessThan(400);
  });

  it.each([null, undefined, 7, 'text', [], {}])('is not read of %j', (value) => {
    expect(readSignedCard(value)).toMatch(/^signedCard/);
  });

  it('has one text for each key and signature: other texts of the same bytes are none', () => {
    const last = signed.publicKey.at(-1) as string;
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    const other = `${signed.publicKey.slice(0, 42)}${alphabet[alphabet.indexOf(last) + 1]}`;
    expect(Buffer.from(other, 'base64url')).toEqual(Buffer.from(signed.publicKey, 'base64url'));
    expect(faultOf({ publicKey: other })).toContain('a raw Ed25519 public key in base64url');
  });

  it('of bytes that are no key is not read', () => {
    expect(faultOf({ publicKey: Buffer.alloc(32, 0xff).toString('base64url') })).toContain('has not made');
  });

  it('that its node has signed for another agent than the card names is not read', () => {
    const text = JSON.stringify(cardOf('writer'));
    expect(readSignedCard(resigned({ agentId: 'editor', card: text }))).toBe(
      'signedCard.agentId is "editor", but the card is of "writer"',
    );
  });

  it.each([
    ['{', /^signedCard\.card is no JSON: /],
    ['['.repeat(200) + ']'.repeat(200), /^signedCard\.card is no JSON: It is nested deeper/],
    ['null', /^The agent card is not valid: /],
    [JSON.stringify({ ...cardOf('writer'), tier: 9 }), /^The agent card is not valid: tier is 9/],
  ])('that its node has signed over %s is not read', (card, fault) => {
    expect(readSignedCard(resigned({ card }))).toMatch(fault);
  });

  it('is not made of what nobody would read', () => {
    expect(() => mars.signed(cardOf('writer', { description: 'x'.repeat(MAX_CARD_BYTES) }))).toThrow(
      /"writer" has \d+ bytes, and 65536 is the most to announce/,
    );
    expect(() => mars.signed('writer', { nodeId: 'a/b' })).toThrow(/signedCard\.nodeId is "a\/b"/);
    expect(() => mars.signed('writer', { expiresAtMs: 0 })).toThrow(/signedCard\.expiresAtMs is 0/);
  });
});

/** Signed by a node that has other code than ours: `signCard` makes no such card. */
function resigned(fields: Partial<SignedCard>): SignedCard {
  const keys = signingKeyPair();
  const { signature: _, ...terms } = { ...signed, publicKey: keys.publicKey, ...fields };
  const said = [
    'orrery/signed-card/1',
    terms.nodeId,
    terms.publicKey,
    terms.agentId,
    terms.bootEpoch,
    terms.revision,
    terms.issuedAtMs,
    terms.expiresAtMs,
    terms.card,
  ];
  const signature = sign(null, Buffer.from(JSON.stringify(said)), keys.privateKey).toString('base64url');
  return { ...terms, signature };
}
