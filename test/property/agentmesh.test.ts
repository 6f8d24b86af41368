import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readNegotiation, readNegotiationResponse } from '../../actors/negotiator/capability-negotiation.ts';
import { matchCapabilities } from '../../actors/negotiator/capability-handlers.ts';
import { loadIdentity, openIdentity } from '../../gateway/agentmesh/identity.ts';
import { envelopeOfMessage, readMeshMessage, writeMeshMessage } from '../../gateway/agentmesh/message.ts';
import { PayloadSchemas } from '../../gateway/agentmesh/payload-schemas.ts';
import { PAYLOAD_TYPES, readPayload } from '../../gateway/agentmesh/payloads.ts';
import { payloadSchemas } from '../../gateway/agentmesh/schema-policy.ts';
import { STANDARD_SCHEMAS } from '../../gateway/agentmesh/standard-schemas.ts';
import { SequenceWindow, sessionSequence } from '../../runtime/protocol/session-sequence.ts';
import { parseEnvelope } from '../../runtime/protocol/envelope.ts';
import { isOrreryError } from '../../runtime/protocol/errors.ts';
import { receive } from '../../runtime/protocol/receive-policy.ts';
import { systemClock } from '../../runtime/protocol/system-seams.ts';
import { arbDamaged, arbTorn } from './arbitraries/damage.ts';

const RUNS = { numRuns: 5_000 };
const PAYLOADS: readonly (readonly [string, object])[] = [
  [
    'request',
    {
      intent: 'travel/flights/search',
      parameters: { action: 'search', origin: 'VIE', destination: 'LIS', departure_date: '2026-03-01' },
      budget: { max: 2, currency: 'USD' },
      response_format: { type: 'json', schema: 'x-a/b/v1' },
    },
  ],
  ['response', { status: 'success', results: [{ price: 1 }], schema: 'agentmesh/travel/flight-search/v1' }],
  ['status', { status: 'working', progress: 0.5, estimated_completion_seconds: 3, message: 'half' }],
  ['error', { code: 'timeout', message: 'late', retry_after_seconds: 2 }],
  ['close', { reason: 'completed', reputation_feedback: { score: 1, tags: ['fast'] } }],
];
const MESSAGES = PAYLOADS.map(([type, payload], sequence) => ({
  type,
  session_id: 's1',
  sequence,
  from: 'A',
  to: 'B',
  timestamp: '2026-01-02T00:00:00.000Z',
  schema: 'x-a/b/v1',
  deadline_ms: 500,
  payload,
}));
const PARTIES = { id: 'e1', sender: 'node/mars', recipient: 'venus', tier: 3 } as const;

/** What is thrown has to be an error of ours. */
function unlessRefused<Result>(run: () => Result): Result | undefined {
  try {
    return run();
  } catch (error) {
    if (!isOrreryError(error)) throw error;
    return undefined;
  }
}

const unpolluted = (): void => expect(({} as { polluted?: unknown }).polluted).toBeUndefined();

describe('SequenceWindow (C-04, M-03, M-04)', () => {
  it('says of each number what a record of all numbers says, as far back as its window goes', () => {
    const WINDOW = 64;
    const step = fc.oneof(
      { weight: 6, arbitrary: fc.constant({ by: 0 }) },
      { weight: 3, arbitrary: fc.record({ by: fc.integer({ min: -90, max: 90 }) }) },
      { weight: 1, arbitrary: fc.record({ by: fc.integer({ min: -500, max: 500 }) }) },
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 300, size: 'max' }), (steps) => {
        const window = new SequenceWindow(WINDOW);
        const seen = new Set<number>();
        let next = 0;
        for (const { by } of steps) {
          const sequence = Math.max(0, next + by);
          const place = window.take(sequence);
          if (sequence === next) expect(place).toEqual({ kind: 'next' });
          else if (sequence > next)
            expect(place).toEqual({ kind: 'gap', from: next, missing: sequence - next });
          else if (sequence < next - WINDOW) expect(place).toEqual({ kind: 'stale' });
          else expect(place).toEqual({ kind: seen.has(sequence) ? 'duplicate' : 'late' });
          seen.add(sequence);
          next = Math.max(next, sequence + 1);
          expect(window.next).toBe(next);
        }
      }),
      { numRuns: 500 },
    );
  });
});

describe('Damaged messages', () => {
  const schemas = new PayloadSchemas({ directory: false });
  schemas.register('x-a/b/v1', { type: 'object', properties: { price: { type: 'number' } } });

  it('are read or refused, judged, and make a valid envelope if they are read', () => {
    // One receiver for all of them: what it keeps does not grow with what it gets.
    const policies = [sessionSequence({ maxSessions: 8 }), payloadSchemas(schemas, { mode: 'strict' })];
    let read = 0;
    fc.assert(
      fc.property(arbDamaged(fc.constantFrom(...MESSAGES)), (damaged) => {
        const message = unlessRefused(() => readMeshMessage(damaged, 0));
        if (message === undefined) return;
        read++;
        const envelope = envelopeOfMessage(message, PARTIES);
        expect(unlessRefused(() => parseEnvelope(envelope))).toBeDefined();
        expect(readMeshMessage(writeMeshMessage(message, 0), 0)).toEqual(message);
        expect(receive(policies, { peer: 'p', envelope }).findings.length).toBeLessThanOrEqual(2);
      }),
      RUNS,
    );
    unpolluted();
    // Most wounds are of the payload, which is not judged when the message is read.
    expect(read).toBeGreaterThan(RUNS.numRuns / 4);
  });

  it('are refused or read as text, too', () => {
    fc.assert(
      fc.property(arbTorn(fc.constantFrom(...MESSAGES.map((one) => JSON.stringify(one)))), (torn) => {
        let value: unknown;
        try {
          value = JSON.parse(torn);
        } catch {
          return;
        }
        unlessRefused(() => readMeshMessage(value, 0));
      }),
      RUNS,
    );
  });

  it.each(PAYLOAD_TYPES)('with a payload of %s are read, or their faults told', (type) => {
    const whole = PAYLOADS.find(([name]) => name.toUpperCase() === type)?.[1] ?? {};
    fc.assert(
      fc.property(arbDamaged(fc.constant(whole)), (damaged) => {
        const reading = readPayload(type, damaged);
        if (!reading.isValid) expect(reading.issues.length).toBeGreaterThan(0);
        else expect(readPayload(type, reading.payload)).toEqual(reading);
      }),
      RUNS,
    );
    unpolluted();
  });

  it('of negotiation are read or refused, and answered the same each time', () => {
    const request = {
      i_need: ['a', 'b'],
      i_offer: ['c'],
      preferred_schemas: ['agentmesh/travel/flight-search/v1', 'agentmesh/travel/flight-search/v2'],
      languages: ['en'],
      payment_methods: ['card'],
    };
    const offer = { capabilities: ['a'], schemas: request.preferred_schemas, languages: ['en'] };
    fc.assert(
      fc.property(arbDamaged(fc.constant(request)), (damaged) => {
        const read = unlessRefused(() => readNegotiation(damaged));
        if (read === undefined) return;
        const answer = matchCapabilities(read, offer);
        expect(matchCapabilities(read, offer)).toEqual(answer);
        expect(readNegotiationResponse(answer)).toEqual(answer);
      }),
      RUNS,
    );
    const answer = matchCapabilities(readNegotiation(request), offer);
    fc.assert(
      fc.property(arbDamaged(fc.constant(answer)), (damaged) => {
        unlessRefused(() => readNegotiationResponse(damaged));
      }),
      RUNS,
    );
    unpolluted();
  });
});

describe('Damaged schemas', () => {
  it('are refused, or check each value without an error', () => {
    const schemas = new PayloadSchemas({ directory: false, onEvent: () => {} });
    fc.assert(
      fc.property(
        arbDamaged(fc.constantFrom(...Object.values(STANDARD_SCHEMAS))),
        fc.jsonValue({ maxDepth: 2 }),
        (schema, value) => {
          const isTaken = unlessRefused(() => schemas.register('x-a/b/v1', schema as never) ?? true);
          const { outcome } = schemas.check('x-a/b/v1', value);
          if (isTaken) expect(['valid', 'invalid']).toContain(outcome);
        },
      ),
      { numRuns: 500 },
    );
    unpolluted();
  });
});

describe('An identity file', () => {
  let folder = '';
  let file = '';
  let whole = '';

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'orrery-identity-'));
    file = join(folder, 'keys', 'identity.json');
    openIdentity(systemClock, { file });
    whole = readFileSync(file, 'utf8');
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const load = (text: string) => {
    writeFileSync(file, text);
    const identity = unlessRefused(() => loadIdentity({ file, onEvent: () => {} }));
    expect(readFileSync(file, 'utf8')).toBe(text);
    return identity;
  };

  it('is the same identity or refused, whichever field is another', () => {
    const { amid, signingPublicKey, exchangePublicKey } = loadIdentity({ file });
    fc.assert(
      fc.property(arbDamaged(fc.constant(JSON.parse(whole) as unknown)), (damaged) => {
        const identity = load(JSON.stringify(damaged));
        if (identity === undefined) return;
        expect(identity).toMatchObject({ amid, signingPublicKey, exchangePublicKey });
      }),
      RUNS,
    );
  });

  it('is refused where a character of a key or of the AMID is another', () => {
    const fields = JSON.parse(whole) as Record<string, string>;
    // X25519 does not look at five bits of a private key (RFC 7748, 5): with others it is the same key.
    const names = Object.keys(fields).filter(
      (name) => name === 'amid' || (name.endsWith('_key') && name !== 'exchange_private_key'),
    );
    const other = fc.constantFrom(...'ABCyz019+/=:- \n');
    fc.assert(
      fc.property(fc.constantFrom(...names), fc.nat(), other, (name, place, character) => {
        const text = fields[name] as string;
        const at = place % text.length;
        if (text[at] === character) return;
        const changed = `${text.slice(0, at)}${character}${text.slice(at + 1)}`;
        expect(load(JSON.stringify({ ...fields, [name]: changed })), name).toBeUndefined();
      }),
      { numRuns: 1_000 },
    );
  });

  it('is refused or the same as torn text', () => {
    fc.assert(
      fc.property(arbTorn(fc.constant(whole)), (torn) => {
        load(torn);
      }),
      { numRuns: 1_000 },
    );
  });
});
