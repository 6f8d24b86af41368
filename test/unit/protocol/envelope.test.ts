import { describe, expect, it } from 'vitest';
import { deserializeEnvelope, parseEnvelope } from '../../../runtime/protocol/envelope.ts';
import { envelopeOf } from '../routing/standalone-team.ts';

const envelope = envelopeOf({ sender: 'mars', recipient: 'venus' });

describe('Reading envelopes (N-13.7, N-E10, N-T03)', () => {
  it.each([2, 0, '1', null])(
    'refuses schema version %j, naming the expected and the actual one',
    (schemaVersion) => {
      const json = JSON.stringify({ ...envelope, schemaVersion });
      expect(() => deserializeEnvelope(json)).toThrow(
        expect.objectContaining({
          code: 'SCHEMA_VERSION_MISMATCH',
          message: `Expected envelope schemaVersion 1, got ${JSON.stringify(schemaVersion)}`,
        }),
      );
    },
  );

  it('names every field that is missing', () => {
    const { sender: _sender, payload: _payload, ...incomplete } = envelope;
    expect(() => parseEnvelope(incomplete)).toThrow(
      expect.objectContaining({
        code: 'INVALID_ENVELOPE',
        message: expect.stringMatching(/sender is missing, .*payload is missing, /),
      }),
    );
  });

  it('refuses what is not JSON', () => {
    expect(() => deserializeEnvelope('{')).toThrow(expect.objectContaining({ code: 'INVALID_ENVELOPE' }));
  });
});
