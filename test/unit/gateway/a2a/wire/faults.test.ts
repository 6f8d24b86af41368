import { describe, expect, it } from 'vitest';
import { ERROR_CODES, OrreryError } from '../../../../../runtime/protocol/errors.ts';
import { fault, FAULT_ROWS, faultOf, FAULTS } from '../../../../../gateway/a2a/wire/faults.ts';
import { writeError } from '../../../../../gateway/a2a/wire/v1/errors.ts';

/** A2A 1.0, 5.4: JSON-RPC code, HTTP status, google.rpc.Code. */
const TABLE = {
  TASK_NOT_FOUND: [-32_001, 404, 'NOT_FOUND'],
  TASK_NOT_CANCELABLE: [-32_002, 400, 'FAILED_PRECONDITION'],
  PUSH_NOTIFICATION_NOT_SUPPORTED: [-32_003, 400, 'FAILED_PRECONDITION'],
  UNSUPPORTED_OPERATION: [-32_004, 400, 'FAILED_PRECONDITION'],
  CONTENT_TYPE_NOT_SUPPORTED: [-32_005, 400, 'INVALID_ARGUMENT'],
  EXTENDED_AGENT_CARD_NOT_CONFIGURED: [-32_007, 400, 'FAILED_PRECONDITION'],
  EXTENSION_SUPPORT_REQUIRED: [-32_008, 400, 'FAILED_PRECONDITION'],
  VERSION_NOT_SUPPORTED: [-32_009, 400, 'FAILED_PRECONDITION'],
  TASK_GENERATION_MISMATCH: [-32_010, 409, 'ABORTED'],
} as const;

describe('the error table', () => {
  it.each(Object.entries(TABLE))('X-39, X-40 %s is %j', (name, [code, httpStatus, status]) => {
    const error = fault(name as keyof typeof TABLE, 'It is so', { taskId: 't', facts: [1, 2] });
    expect(writeError(error)).toEqual({
      code,
      httpStatus,
      message: 'It is so',
      data: [
        {
          '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
          reason: name,
          domain: 'a2a-protocol.org',
          metadata: { taskId: 't', facts: '[1,2]' },
        },
      ],
    });
    expect(FAULT_ROWS[faultOf(error)].rpcStatus).toBe(status);
  });

  it('has a row for every fault, and no two of the protocol share a code', () => {
    const codes = FAULTS.map((name) => writeError(fault(name, 'x')).code);
    expect(codes.every((code) => code <= -32_000 && code >= -32_768)).toBe(true);
    const own = codes.slice(0, 14);
    expect(new Set(own).size).toBe(own.length);
  });

  it('takes every error of the system for some fault, and what it does not know for INTERNAL', () => {
    for (const code of ERROR_CODES) expect(FAULTS).toContain(faultOf(new OrreryError(code, 'x')));
    for (const thrown of [new Error('x'), undefined, null, 'x', { code: 'TASK_NOT_FOUND' }])
      expect(faultOf(thrown)).toBe('INTERNAL');
    expect(faultOf(new OrreryError('STORE_FAILED', 'x'))).toBe('INTERNAL');
    expect(faultOf(new OrreryError('TASK_OVER', 'x', { details: { fault: 'nonsense' } }))).toBe(
      'UNSUPPORTED_OPERATION',
    );
  });
});
