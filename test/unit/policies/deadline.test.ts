import { describe, expect, it } from 'vitest';
import { deadline } from '../../../policies/deadline.ts';
import { codeOf } from './judge-request.ts';

describe('deadline (F-04)', () => {
  it('refuses from the deadline on', () => {
    expect(codeOf(deadline(), { deadlineAtMs: 1_001 })).toBeUndefined();
    expect(codeOf(deadline(), { deadlineAtMs: 1_000 })).toBe('DEADLINE_EXCEEDED');
    expect(codeOf(deadline(), { deadlineAtMs: undefined })).toBeUndefined();
  });
});
