import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AnyPart, writeTagged } from '../../gateway/a2a/wire/parts.ts';
import { givenTaskId, isGivenTaskId, ownTaskId } from '../../gateway/a2a/wire/v01/given-ids.ts';
import { createV01 } from '../../gateway/a2a/wire/v01/dialect.ts';
import { V03, V03_REST } from '../../gateway/a2a/wire/v03/dialect.ts';
import { arbPart } from './arbitraries/task.ts';
import { json, OWNER, RUNS } from './dialect-trial.ts';

describe('parts', () => {
  it('are read alike by kind, by type and by the member that they have (C-03)', () => {
    fc.assert(
      fc.property(arbPart(), (part) => {
        expect(AnyPart.parse(json(writeTagged(part, 'kind')))).toEqual(part);
        expect(AnyPart.parse(json(writeTagged(part, 'type')))).toEqual(part);
        expect(AnyPart.parse(part)).toEqual(part);
      }),
      RUNS,
    );
  });

  it('take base64 in either alphabet, padded or not', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 20 }), (bytes) => {
        const raw = Buffer.from(bytes).toString('base64');
        const url = Buffer.from(bytes).toString('base64url');
        expect(AnyPart.parse({ raw: url })).toEqual({ raw });
        expect(AnyPart.parse({ type: 'file', file: { bytes: url, mimeType: null } })).toEqual({ raw });
      }),
      RUNS,
    );
  });
});

describe('what is no request', () => {
  /** Any JSON, with the names among it that requests have. */
  const arbParams = () => {
    const name = fc.constantFrom(
      ...[
        'message',
        'request',
        'role',
        'parts',
        'content',
        'kind',
        'type',
        'text',
        'file',
        'data',
        'id',
        'metadata',
      ],
      ...[
        'configuration',
        'blocking',
        'historyLength',
        'pushNotificationConfig',
        'url',
        'bytes',
        'messageId',
        '__proto__',
      ],
    );
    const word = fc.constantFrom(
      'user',
      'ROLE_AGENT',
      'text',
      'file',
      'data',
      'https://a.example',
      '',
      'bm8',
    );
    return fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 5 },
        fc.oneof(word, fc.integer(), fc.boolean(), fc.constant(null), fc.string()),
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(name, tie('value'), { maxKeys: 6, noNullPrototype: true }),
      ),
    })).value;
  };

  it('is refused as INVALID_PAYLOAD, or read, and never breaks what reads it', () => {
    const readers = [V03, V03_REST.dialect, createV01({ newId: () => 'new' }).rpc].flatMap(({ read }) =>
      Object.values(read),
    );
    fc.assert(
      fc.property(arbParams(), (params) => {
        for (const read of readers)
          try {
            read(params);
          } catch (error) {
            expect(error).toMatchObject({ code: 'INVALID_PAYLOAD' });
          }
      }),
      { numRuns: 1_000 },
    );
  });
});

describe('ids that owners choose', () => {
  const arbOwner = () =>
    fc.record(
      {
        principalId: fc.string({ minLength: 1, maxLength: 3 }),
        tenant: fc.string({ minLength: 1, maxLength: 3 }),
      },
      { requiredKeys: ['principalId'], noNullPrototype: true },
    );
  const arbId = () =>
    fc.oneof(
      fc.string({ minLength: 1, maxLength: 3 }),
      fc.string({ minLength: 1 }).map((id) => givenTaskId(OWNER, id)),
    );

  it('are never those of others, and never two', () => {
    fc.assert(
      fc.property(arbOwner(), arbOwner(), arbId(), arbId(), (one, other, id, otherId) => {
        const isSame =
          JSON.stringify([one.principalId, one.tenant, id]) ===
          JSON.stringify([other.principalId, other.tenant, otherId]);
        expect(givenTaskId(one, id) === givenTaskId(other, otherId)).toBe(isSame);
      }),
      { numRuns: 500 },
    );
  });

  it('are read off the ids that the tasks have', () => {
    fc.assert(
      fc.property(arbOwner(), arbId(), (owner, id) => {
        expect(isGivenTaskId(givenTaskId(owner, id))).toBe(true);
        expect(ownTaskId(givenTaskId(owner, id))).toBe(id);
      }),
      RUNS,
    );
  });
});
