import { type ErrorCode, errorToData, isOrreryError } from '../../../runtime/protocol/errors.ts';
import { INTERNAL_SENTENCE } from '../internal-fault.ts';

/** An error of the protocol, as it is answered: `code` is a number of JSON-RPC, of MCP, or of ours. */
export class McpError extends Error {
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/** The numbers of JSON-RPC and MCP that are used here. */
export const MCP_CODES = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  headerMismatch: -32020,
  missingCapability: -32021,
} as const;

/** Our own: they are none of A2A's, which are below -32000 too, and none that MCP has given a meaning. */
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

/** `required`: what the client does not say that it can, as its capabilities would. */
export const missingCapability = (what: string, required: Readonly<Record<string, unknown>>): McpError =>
  new McpError(MCP_CODES.missingCapability, `${what} needs a capability that the client does not have`, {
    requiredCapabilities: required,
  });

/** Whether what an error says is for whoever asked: it has a number that says what is wrong with what was asked, or when. */
const isTold = (code: ErrorCode): boolean => INVALID.has(code) || OWN_CODES[code] !== undefined;

/**
 * Whatever was thrown, as an error of the protocol. Of what is not the caller's business nothing is told but that it was
 * (as A2A has it).
 */
export function mcpErrorOf(error: unknown): McpError {
  if (error instanceof McpError) return error;
  if (!isOrreryError(error) || !isTold(error.code))
    return new McpError(MCP_CODES.internal, INTERNAL_SENTENCE);
  const { code, message, details } = error;
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

/** What agents say themselves, and not what they run on: why their handler gave up, or somebody else whom it asked. */
const SAID_BY_AGENTS: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'ACTOR_DIED',
  'INPUT_REQUIRED',
  'REMOTE_FAILED',
  'REMOTE_UNREACHABLE',
]);

/**
 * What is told of an error that ended a call of a tool, in its result (N-5.4): its code, and what its agent says of it. Of what
 * the system has to say there is only the code. `isTold`: nobody has to be told of it besides.
 */
export function toolErrorOf(error: unknown): {
  readonly code: ErrorCode;
  readonly message: string;
  readonly retryAfterMs?: number;
  readonly isTold: boolean;
} {
  const { code, message, details } = errorToData(error);
  if (!isTold(code) && !SAID_BY_AGENTS.has(code)) return { code, message: INTERNAL_SENTENCE, isTold: false };
  const retryAfterMs = details?.['retryAfterMs'];
  return { code, message, ...(typeof retryAfterMs === 'number' ? { retryAfterMs } : {}), isTold: true };
}

/** Whether somebody has to look at it: whoever asked has done nothing wrong, and can do nothing about it. */
export const isFault = (error: unknown): boolean => mcpErrorOf(error).code === MCP_CODES.internal;
