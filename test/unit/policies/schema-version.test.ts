import { describe, expect, it } from 'vitest';
import { schemaVersion } from '../../../policies/schema-version.ts';
import { codeOf, requestOf } from './judge-request.ts';

describe('schema-version (N-13.7, N-E10)', () => {
  it('refuses every version but its own, naming both', () => {
    expect(codeOf(schemaVersion(), { schemaVersion: 1 })).toBeUndefined();
    expect(schemaVersion().judge(requestOf({ schemaVersion: 2 }))).toEqual({
      code: 'SCHEMA_VERSION_MISMATCH',
      reason: 'Expected envelope schemaVersion 1, got 2',
    });
  });
});
