import { isOrreryError, OrreryError } from '../../../runtime/protocol/errors.ts';
import { type Fault, FAULTS } from '../wire/faults.ts';
import { INTERNAL_SENTENCE } from '../../../runtime/protocol/told-failure.ts';

/** An error that is this fault, whatever its code says. */
export const fault = (
  name: Fault,
  sentence: string,
  details: Readonly<Record<string, unknown>> = {},
): OrreryError => new OrreryError('REFUSED', sentence, { details: { ...details, fault: name } });

/** A parameter of a request is not what it is to be. */
export const wrongParameter = (field: string, value: unknown, expected: string): OrreryError =>
  fault('INVALID_PARAMS', sentenceOf(field, value, expected), { field });

/** The request as a whole is none of the protocol. */
export const wrongRequest = (field: string, value: unknown, expected: string): OrreryError =>
  fault('INVALID_REQUEST', sentenceOf(field, value, expected), { field });

const MAX_SHOWN = 60;

function sentenceOf(field: string, value: unknown, expected: string): string {
  const text = JSON.stringify(value) ?? 'left out';
  const shown = text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
  return `${field} is ${shown}, expected ${expected}`;
}

/** Which fault an error is. What nobody here has foreseen is INTERNAL, and its text is for nobody outside. */
export function faultOf(error: unknown): Fault {
  if (!isOrreryError(error)) return 'INTERNAL';
  const named = error.details['fault'];
  if (isFault(named)) return named;
  return FAULT_OF_CODE[error.code] ?? 'INTERNAL';
}

/** What a caller is told of an error that is none of its business. */
export const internalFault = (): OrreryError => fault('INTERNAL', INTERNAL_SENTENCE);

const isFault = (value: unknown): value is Fault => (FAULTS as readonly unknown[]).includes(value);

const FAULT_OF_CODE: Readonly<Record<string, Fault>> = {
  TASK_NOT_FOUND: 'TASK_NOT_FOUND',
  TASK_OVER: 'UNSUPPORTED_OPERATION',
  TASK_GENERATION_MISMATCH: 'TASK_GENERATION_MISMATCH',
  INVALID_PAYLOAD: 'INVALID_PARAMS',
  INVALID_OPTIONS: 'INVALID_PARAMS',
  AGENT_NOT_FOUND: 'AGENT_NOT_FOUND',
  CAPABILITY_NOT_FOUND: 'INVALID_PARAMS',
  UNAUTHENTICATED: 'UNAUTHENTICATED',
  NOT_PERMITTED: 'PERMISSION_DENIED',
  TIER_VIOLATION: 'PERMISSION_DENIED',
  SANDBOX_VIOLATION: 'PERMISSION_DENIED',
  ESCALATION_REQUIRED: 'PERMISSION_DENIED',
  REFUSED: 'PERMISSION_DENIED',
  BUDGET_EXCEEDED: 'PERMISSION_DENIED',
  PATH_LOOP: 'PERMISSION_DENIED',
  HOP_LIMIT: 'PERMISSION_DENIED',
  RATE_LIMITED: 'RATE_LIMITED',
  QUOTA_EXCEEDED: 'QUOTA_EXCEEDED',
  BODY_TOO_LARGE: 'BODY_TOO_LARGE',
  MAILBOX_FULL: 'UNAVAILABLE',
  SYSTEM_STOPPED: 'UNAVAILABLE',
  CANCELLED: 'UNAVAILABLE',
};
