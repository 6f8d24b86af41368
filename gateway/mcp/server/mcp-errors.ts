import { type ErrorCode, errorToData, isOrreryError } from '../../../runtime/protocol/errors.ts';
import {
  INTERNAL_SENTENCE,
  isToldAsItIs,
  type NoteFailure,
  type ToldFailure,
  toldFailure,
} from '../../../runtime/protocol/told-failure.ts';

/** An error answer of JSON-RPC. `code` is a number of JSON-RPC, of MCP, or of ours. */
export class McpError extends Error {
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/** The error codes of JSON-RPC and MCP that are used here. */
export const MCP_CODES = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  headerMismatch: -32020,
  missingCapability: -32021,
} as const;

/** JSON-RPC codes of our errors. They differ from those of A2A, which are below -32000 too, and from those of MCP. */
const OWN_CODES: Partial<Record<ErrorCode, number>> = {
  UNAUTHENTICATED: -32081,
  NOT_PERMITTED: -32082,
  REFUSED: -32082,
  TAINTED: -32082,
  TIER_VIOLATION: -32082,
  SANDBOX_VIOLATION: -32082,
  ESCALATION_REQUIRED: -32082,
  BUDGET_EXCEEDED: -32082,
  PATH_LOOP: -32082,
  HOP_LIMIT: -32082,
  RATE_LIMITED: -32083,
  QUOTA_EXCEEDED: -32084,
  BODY_TOO_LARGE: -32085,
  SYSTEM_STOPPED: -32086,
  CONTROL_LOST: -32086,
  START_FAILED: -32086,
  MAILBOX_FULL: -32086,
  CANCELLED: -32086,
  DEADLINE_EXCEEDED: -32087,
};

const INVALID: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'INVALID_PAYLOAD',
  'INVALID_OPTIONS',
  'TOOL_NOT_FOUND',
  'RESOURCE_NOT_FOUND',
  'PROMPT_NOT_FOUND',
  'TASK_NOT_FOUND',
  'TASK_OVER',
]);

export const invalidParams = (message: string, data?: unknown): McpError =>
  new McpError(MCP_CODES.invalidParams, message, data);

/** The error for a client that lacks an ability. `required` is how its capabilities would declare it. */
export const missingCapability = (what: string, required: Readonly<Record<string, unknown>>): McpError =>
  new McpError(MCP_CODES.missingCapability, `${what} needs a capability that the client does not have`, {
    requiredCapabilities: required,
  });

/** Whether the caller can do something about an error: it has a JSON-RPC code of its own. */
const hasNumber = (code: ErrorCode): boolean => INVALID.has(code) || OWN_CODES[code] !== undefined;

/** Converts anything thrown to an error answer. Of an internal error the caller learns only that there was one, as in A2A. */
export function mcpErrorOf(error: unknown): McpError {
  if (error instanceof McpError) return error;
  if (!isOrreryError(error) || !hasNumber(error.code))
    return new McpError(MCP_CODES.internal, INTERNAL_SENTENCE);
  const { code, details } = error;
  const isTold = isToldAsItIs(error) || code === 'INVALID_OPTIONS';
  const message = isTold ? error.message : INTERNAL_SENTENCE;
  const { retryAfterMs, uri, agentId } = details;
  const data = {
    code,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(uri === undefined ? {} : { uri }),
    ...(agentId === undefined ? {} : { agentId }),
  };
  if (INVALID.has(code)) return invalidParams(message, data);
  return new McpError(OWN_CODES[code] as number, message, data);
}

/** The error in the result of a failed tool call (N-5.4). `retryAfterMs` is in milliseconds, if the error has one. */
export function toolErrorOf(
  error: unknown,
  note: NoteFailure,
): ToldFailure & { readonly retryAfterMs?: number } {
  const retryAfterMs = errorToData(error).details?.['retryAfterMs'];
  return {
    ...toldFailure(error, note),
    ...(typeof retryAfterMs === 'number' ? { retryAfterMs } : {}),
  };
}

/** Whether an error is internal: the operator has to look at it, the caller can do nothing. */
export const isFault = (error: unknown): boolean => mcpErrorOf(error).code === MCP_CODES.internal;
