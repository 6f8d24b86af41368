import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AttestationVerifier } from '../../gateway/lango/attest/attestation.ts';
import { redactPaths } from '../../gateway/lango/firewall/redact-paths.ts';
import { sanitise } from '../../gateway/lango/firewall/sanitise.ts';
import { publicKeyOfDid } from '../../gateway/lango/session/did-key.ts';
import { decodeAnswer, decodeChallenge } from '../../gateway/lango/session/handshake.ts';
import {
  decodeRequest,
  decodeResponse,
  encodeRequest,
  encodeResponse,
  type JsonObject,
} from '../../gateway/lango/wire/messages.ts';
import { readDocument } from '../../gateway/lango/wire/read-document.ts';
import type { JsonValue } from '../../runtime/protocol/json-value.ts';
import { FakeClock } from '../fixtures/fake-clock.ts';
import { asked } from '../fixtures/lango/bare-peer.ts';
import { langoHouse } from '../fixtures/lango/lango-house.ts';
import { mutated } from '../fixtures/lango/mutated.ts';

const RUNS = 5_000;
const ID = '5f0c8c3e-8d3b-4f6e-9b0a-1c2d3e4f5a6b';
const NONCE = Buffer.alloc(32, 1).toString('base64');
const REQUEST = `{"type":"tool_invoke","sessionToken":"abc","requestId":"${ID}","payload":{"params":{"a":[1,{"b":"\\u003c"}]},"toolName":"search"}}\n`;
const RESPONSE = `{"requestId":"${ID}","status":"ok","result":{"found":[1,2]},"attestationProof":"AQID","timestamp":"2026-01-02T03:04:05.06Z"}\n`;
const CHALLENGE = `{"nonce":"${NONCE}","timestamp":1767323045,"senderDid":"did:key:z6Mk","signature":"AQID"}\n`;
const ANSWER = `{"nonce":"${NONCE}","timestamp":1767323045,"did":"did:key:z6Mk","signature":"AQID","token":"abc","expiresAt":"2026-01-02T03:04:05Z"}\n`;

async function documentIn(bytes: Buffer, size: number): Promise<string> {
  async function* chunks() {
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
  }
  return readDocument(chunks(), { maxBytes: 1_000, signal: new AbortController().signal });
}

const SAID = new Set(['REFUSED', 'BODY_TOO_LARGE', 'UNAUTHENTICATED']);

const Json = fc
  .jsonValue({ maxDepth: 4 })
  .map((value) => JSON.parse(JSON.stringify(value).replaceAll('__proto__', 'proto')) as JsonValue);
const JsonMap = fc.dictionary(
  fc.string().filter((name) => name !== '__proto__'),
  Json,
) as fc.Arbitrary<JsonObject>;

describe('Messages of Lango that were changed on their way', () => {
  it.each([
    ['request', REQUEST, decodeRequest],
    ['response', RESPONSE, decodeResponse],
    ['challenge', CHALLENGE, decodeChallenge],
    ['answer to a challenge', ANSWER, decodeAnswer],
  ] as const)('are taken or refused: 5,000 of a %s', async (_, message, decode) => {
    let taken = 0;
    await fc.assert(
      fc.asyncProperty(mutated(message), fc.integer({ min: 1, max: 300 }), async (bytes, size) => {
        try {
          decode(await documentIn(bytes, size));
          taken += 1;
        } catch (error) {
          expect(SAID).toContain((error as { code?: string }).code);
        }
      }),
      { numRuns: RUNS },
    );
    expect(taken).toBeGreaterThan(0);
    expect(taken).toBeLessThan(RUNS);
    expect(({} as Record<string, unknown>)['found']).toBeUndefined();
  });

  it('are answered by a handler, or cut: 5,000 requests, with nothing left over', async () => {
    const house = langoHouse();
    const request = REQUEST.replace('abc', house.token);
    await fc.assert(
      fc.asyncProperty(mutated(request), async (bytes) => {
        const { theirs, ours, served } = house.streamOf();
        theirs.send(bytes);
        await theirs.close();
        const answer = await asked(theirs, '').catch(() => '');
        await served;
        if (ours.abortedWith === undefined)
          expect(decodeResponse(answer).status).toMatch(/^(ok|error|denied)$/);
        expect([house.server.openStreams, house.clock.pending]).toEqual([0, 0]);
        house.clock.advance(1_000);
      }),
      { numRuns: RUNS },
    );
  });

  it('do not pass for proofs: 5,000 of them', async () => {
    const verifier = new AttestationVerifier(
      { publicKeyOf: () => publicKeyOfDid('did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK') },
      { clock: new FakeClock(1) },
    );
    await fc.assert(
      fc.asyncProperty(
        fc.uint8Array({ minLength: 80, maxLength: 95 }),
        fc.boolean(),
        async (proof, isOfKind) => {
          const bytes = isOfKind
            ? Buffer.concat([Buffer.from([1, 0, 0, 0, 0, 0, 0, 0, 1]), proof], 89)
            : proof;
          await expect(verifier.verify({ did: 'x', result: {}, proof: bytes })).rejects.toMatchObject({
            code: 'REMOTE_FAILED',
          });
        },
      ),
      { numRuns: RUNS },
    );
  });
});

describe('Messages of Lango', () => {
  it('come back from the wire as they were (L-03, L-04, L-05)', () => {
    fc.assert(
      fc.property(JsonMap, Json, (map, value) => {
        const whole = { ...map, value };
        const request = { type: 'tool_invoke', sessionToken: 'abc', requestId: ID, payload: whole };
        const text = Buffer.from(encodeRequest(request)).toString();
        expect(text).toMatch(/^[^<>&\n\u2028\u2029]*\n$/);
        const wellFormed = JSON.parse(JSON.stringify(whole), (_, field) =>
          typeof field === 'string' ? field.toWellFormed() : field,
        );
        const isWellFormed =
          JSON.stringify(whole).isWellFormed() && !/\\ud[89a-f]/i.test(JSON.stringify(whole));
        if (isWellFormed) expect(decodeRequest(text)).toEqual({ ...request, payload: wellFormed });
        const response = { requestId: ID, status: 'ok' as const, result: whole, timestampMs: 5 };
        if (isWellFormed)
          expect(decodeResponse(Buffer.from(encodeResponse(response)).toString())).toEqual({
            ...response,
            result: wellFormed,
          });
      }),
      { numRuns: 500 },
    );
  });

  it('are sanitised once and for all: what is clean stays as it is', () => {
    fc.assert(
      fc.property(Json, (value) => {
        const { value: clean } = sanitise(value);
        expect(sanitise(clean)).toEqual({ value: clean, removed: [] });
      }),
      { numRuns: RUNS },
    );
  });

  it('have paths redacted without end to any text', () => {
    const part = fc.oneof(
      fc.string(),
      fc.constantFrom('/home/', '/', '\\\\', 'C:\\', '"', "'", 'file://', 'https://', '[path-redacted]', ' '),
    );
    fc.assert(
      fc.property(fc.array(part), (parts) => {
        const clean = redactPaths(parts.join(''));
        expect(clean).not.toMatch(/(^|[\s"'(])\/(home|etc)\/\w/);
      }),
      { numRuns: RUNS },
    );
  });
});
