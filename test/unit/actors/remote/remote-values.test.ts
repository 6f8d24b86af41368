import { describe, expect, it } from 'vitest';
import { resultOf } from '../../../../actors/remote/remote-values.ts';
import { partialMetadata } from '../../../../runtime/protocol/a2a-extension.ts';
import { ERROR_CODES } from '../../../../runtime/protocol/errors.ts';
import { isRefusal, sharedCodeOf } from '../../../../runtime/protocol/remote-codes.ts';

describe('What an agent elsewhere has made', () => {
  const made = (name: string, text: string, metadata = {}) => ({
    artifactId: name,
    name,
    parts: [{ text }],
    metadata,
  });

  it('is its result, whatever it calls it', () => {
    expect(resultOf([made('partial', 'the half of it')], undefined)).toBe('the half of it');
  });

  it('is none where it says so by our extension', () => {
    const half = made('half', 'the half of it', partialMetadata());
    expect(resultOf([half, made('whole', 'all')], undefined)).toBe('all');
    expect(resultOf([half], undefined)).toBeUndefined();
  });
});

describe('What a system elsewhere says went wrong', () => {
  it('means the same here for a closed list of codes, and for no text beside', () => {
    const shared = ERROR_CODES.filter((code) => sharedCodeOf(code) === code);
    expect(shared).toEqual(expect.arrayContaining(['PATH_LOOP', 'TAKEN', 'DEADLINE_EXCEEDED']));
    for (const code of ['ACTOR_DIED', 'SYSTEM_STOPPED', 'UNAUTHENTICATED', 'toString', '', undefined])
      expect(sharedCodeOf(code)).toBeUndefined();
  });

  it('says that nothing was done where it is a refusal', () => {
    for (const code of ['TIER_VIOLATION', 'NOT_PERMITTED', 'RATE_LIMITED', 'UNAUTHENTICATED'])
      expect(isRefusal(code)).toBe(true);
    for (const code of ['DEADLINE_EXCEEDED', 'REFUSED', 'REMOTE_FAILED']) expect(isRefusal(code)).toBe(false);
  });
});
