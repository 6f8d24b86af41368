import { describe, expect, it } from 'vitest';
import { goTime, timeOfGo } from '../../../../gateway/lango/wire/go-json.ts';
import {
  decodeRequest,
  decodeResponse,
  encodeRequest,
  encodeResponse,
  LANGO_PROTOCOL,
} from '../../../../gateway/lango/wire/messages.ts';
import { readDocument } from '../../../../gateway/lango/wire/read-document.ts';

const ID = '5f0c8c3e-8d3b-4f6e-9b0a-1c2d3e4f5a6b';
/* What Go's encoder writes of the seed's structs: fields in their order, keys of maps sorted, HTML escaped, a newline. */
const INVOKE = `{"type":"tool_invoke","sessionToken":"abc","requestId":"${ID}","payload":{"params":{"a":[1,-0.5,1e+21,1e-7],"q":"1 \\u003c 2 \\u0026 3 \\u003e 2\\u2028","é":"x"},"toolName":"search"}}\n`;
const CARD = `{"type":"agent_card","sessionToken":"abc","requestId":"${ID}"}\n`;
const OK = `{"requestId":"${ID}","status":"ok","result":{"found":1},"attestationProof":"AQID/w==","timestamp":"2026-01-02T03:04:05.06Z"}\n`;
const ERROR = `{"requestId":"","status":"error","error":"invalid request","timestamp":"2026-01-02T03:04:05Z"}\n`;

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString('utf8');
const AT_MS = Date.UTC(2026, 0, 2, 3, 4, 5);

describe('The wire of Lango, byte for byte (L-03, L-04, L-05)', () => {
  it('has its protocol id', () => {
    expect(LANGO_PROTOCOL).toBe('/lango/a2a/1.0.0');
  });

  it('is JSON as Go writes a request (L-03, L-04)', () => {
    const payload = {
      toolName: 'search',
      params: { q: '1 < 2 & 3 > 2\u2028', é: 'x', a: [1, -0.5, 1e21, 1e-7] },
    };
    const request = { type: 'tool_invoke', sessionToken: 'abc', requestId: ID };
    expect(text(encodeRequest({ ...request, payload }))).toBe(INVOKE);
    expect(text(encodeRequest({ ...request, type: 'agent_card', payload: {} }))).toBe(CARD);
    expect(decodeRequest(INVOKE)).toEqual({ ...request, payload });
    expect(decodeRequest(CARD)).toEqual({ ...request, type: 'agent_card' });
  });

  it('is JSON as Go writes a response (L-05)', () => {
    const ok = {
      requestId: ID,
      status: 'ok' as const,
      result: { found: 1 },
      attestationProof: Buffer.from([1, 2, 3, 255]),
      timestampMs: AT_MS + 60,
    };
    const error = { requestId: '', status: 'error' as const, error: 'invalid request', timestampMs: AT_MS };
    expect(text(encodeResponse(ok))).toBe(OK);
    expect(text(encodeResponse({ ...error, result: {} }))).toBe(ERROR);
    expect(decodeResponse(OK)).toEqual(ok);
    expect(decodeResponse(ERROR)).toEqual(error);
  });

  it.each([
    ['{}', { type: '', sessionToken: '', requestId: '' }],
    ['{"type":null,"payload":null,"more":1}', { type: '', sessionToken: '', requestId: '' }],
    [
      '{"payload":{"__proto__":{"a":1},"b":2}}',
      { type: '', sessionToken: '', requestId: '', payload: { b: 2 } },
    ],
  ])('takes %s as Go does, with what is missing empty', (document, request) => {
    expect(decodeRequest(document)).toEqual(request);
    expect(({} as Record<string, unknown>)['a']).toBeUndefined();
  });

  it.each(['', '[]', '"x"', '{', '{"type":1}', '{"payload":[]}', `{"requestId":"${'x'.repeat(129)}"}`])(
    'refuses %s as a request',
    (document) => {
      expect(() => decodeRequest(document)).toThrow(expect.objectContaining({ code: 'REFUSED' }));
    },
  );

  it.each([
    '{}',
    '{"status":"fine","timestamp":"2026-01-02T03:04:05Z"}',
    '{"status":"ok","timestamp":"yesterday"}',
    '{"status":"ok","attestationProof":"?","timestamp":"2026-01-02T03:04:05Z"}',
  ])('refuses %s as a response', (document) => {
    expect(() => decodeResponse(document)).toThrow(expect.objectContaining({ code: 'REFUSED' }));
  });

  it('reads times of RFC 3339 with nanoseconds and zones, and writes them without zeros at the end', () => {
    expect(timeOfGo('2026-01-02T03:04:05.123456789Z')).toBe(AT_MS + 123);
    expect(timeOfGo('2026-01-02T05:04:05.06+02:00')).toBe(AT_MS + 60);
    expect(timeOfGo('2026-01-02T03:04:05Z')).toBe(AT_MS);
    for (const none of ['', '2026-01-02', '2026-13-02T03:04:05Z', '2026-01-02 03:04:05Z', '1'])
      expect(timeOfGo(none)).toBeUndefined();
    expect([goTime(AT_MS), goTime(AT_MS + 100), goTime(AT_MS + 5_000)]).toEqual([
      '2026-01-02T03:04:05Z',
      '2026-01-02T03:04:05.1Z',
      '2026-01-02T03:04:10Z',
    ]);
  });
});

describe('A document of a stream', () => {
  const { signal } = new AbortController();
  async function* chunksOf(document: string, size: number) {
    const bytes = Buffer.from(document);
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
    // The other side does not end the stream.
    await new Promise(() => undefined);
  }
  const read = (document: string, size = 1, maxBytes = 1_000) =>
    readDocument(chunksOf(document, size), { maxBytes, signal });

  it.each([1, 2, 7, 1_000])(
    'is read at its last bracket, in chunks of %i bytes, and no further',
    async (size) => {
      const document = '{"a":"}\\"{","b":[{"é":"\\\\"}]}';
      expect(await read(` \n${document}\n`, size)).toBe(` \n${document}`);
      expect(await read(`${document}{"c":1}`, size)).toBe(document);
    },
  );

  it('is refused when it is too large, too deep, no object, no UTF-8, or ends before its end', async () => {
    await expect(read(`{"a":"${'x'.repeat(1_000)}"}`)).rejects.toMatchObject({ code: 'BODY_TOO_LARGE' });
    await expect(read(' '.repeat(2_000))).rejects.toMatchObject({ code: 'BODY_TOO_LARGE' });
    await expect(read(`{"a":${'['.repeat(200)}`)).rejects.toThrow('deeper');
    await expect(read('x')).rejects.toThrow('no JSON object');
    async function* latin() {
      yield Buffer.from('{"a":"é"}', 'latin1');
    }
    await expect(readDocument(latin(), { maxBytes: 100, signal })).rejects.toThrow('UTF-8');
    async function* half() {
      yield Buffer.from('{"a":');
    }
    await expect(readDocument(half(), { maxBytes: 100, signal })).rejects.toThrow('ended before');
  });

  it('may fill its room to the last byte', async () => {
    const document = `{"a":"${'x'.repeat(92)}"}`;
    expect(document).toHaveLength(100);
    expect(await read(`${document}\n`, 101, 100)).toBe(document);
    await expect(read(`${document} `.replace('}', 'x}'), 200, 100)).rejects.toMatchObject({
      code: 'BODY_TOO_LARGE',
    });
  });
});
