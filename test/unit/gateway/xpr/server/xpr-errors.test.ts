import { describe, expect, it } from 'vitest';
import { unauthenticated } from '../../../../../runtime/protocol/edge-errors.ts';
import { OrreryError } from '../../../../../runtime/protocol/errors.ts';
import { fault, FAULTS } from '../../../../../gateway/a2a/wire/faults.ts';
import { writeXprError } from '../../../../../gateway/xpr/server/xpr-errors.ts';

describe('The errors of the XPR binding (C-09)', () => {
  it.each([
    ['PARSE_ERROR', -32_700, 'Parse error'],
    ['INVALID_REQUEST', -32_600, 'Invalid request'],
    ['METHOD_NOT_FOUND', -32_601, 'Method not found'],
    ['INVALID_PARAMS', -32_602, 'Invalid params'],
    ['INTERNAL', -32_603, 'Internal error'],
    ['UNAUTHENTICATED', -32_000, 'Authentication error'],
    ['PERMISSION_DENIED', -32_000, 'Authentication error'],
    ['RATE_LIMITED', -32_000, 'Authentication error'],
    ['TASK_NOT_FOUND', -32_001, 'Task not found'],
    ['TASK_NOT_CANCELABLE', -32_002, 'Task not cancelable'],
  ] as const)(
    'have the seed’s number and message: %s is %i (X-33, X-34, X-35, X-36, X-37, X-38, X-39, X-40)',
    (name, code, message) => {
      expect(writeXprError(fault(name, 'a sentence'))).toMatchObject({ code, message, httpStatus: 200 });
    },
  );

  it('are all of the seed’s, and say which fault it is', () => {
    const codes = [-32_700, -32_600, -32_601, -32_602, -32_603, -32_000, -32_001, -32_002];
    for (const name of FAULTS) {
      const written = writeXprError(fault(name, 'a sentence'));
      expect(codes).toContain(written.code);
      expect(written.data).toMatchObject({ reason: name });
    }
  });

  it('tell apart what shares -32000, and when to come again (X-38)', () => {
    expect(writeXprError(unauthenticated('its timestamp is old')).data).toEqual({
      reason: 'UNAUTHENTICATED',
      detail: 'The request is not authenticated: its timestamp is old',
    });
    const limited = new OrreryError('RATE_LIMITED', 'too many', { details: { retryAfterMs: 1_001 } });
    expect(writeXprError(limited).data).toEqual({
      reason: 'RATE_LIMITED',
      detail: 'too many',
      retryAfterSeconds: 2,
    });
  });

  it.each([new Error('password is hunter2'), 'hunter2', new OrreryError('STORE_FAILED', 'hunter2')])(
    'tell nothing of what is inside (X-37)',
    (error) => {
      const written = writeXprError(error);
      expect(written.code).toBe(-32_603);
      expect(JSON.stringify(written)).not.toContain('hunter2');
    },
  );
});
