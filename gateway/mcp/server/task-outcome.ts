import { type ErrorCode, OrreryError } from '../../../runtime/protocol/errors.ts';
import { ATTESTATION_URI } from '../../../runtime/protocol/firewall.ts';
import type { ToldFailure } from '../../../runtime/protocol/told-failure.ts';
import type { Part, Task } from '../../../runtime/protocol/task.ts';
import { isObject } from '../../http/json-text.ts';
import type { Result } from './json-shapes.ts';
import { mcpErrorOf } from './mcp-errors.ts';
import type { ServedTool } from './served-tool.ts';
import { errorResult, resultOf, withAttestation } from './tool-result.ts';

/** How a task has ended: with the result of its tool, which may be an error of the tool; or with an error of the protocol. */
export type TaskOutcome =
  | { readonly kind: 'result'; readonly result: Result }
  | {
      readonly kind: 'error';
      readonly error: { readonly code: number; readonly message: string; readonly data?: unknown };
    };

/** Codes that mean that the tool could not work. They become errors of the protocol, not results. */
const BROKEN: ReadonlySet<string> = new Set<ErrorCode>([
  'ACTOR_DIED',
  'HANDLER_FAILED',
  'THREAD_DIED',
  'DEADLINE_EXCEEDED',
  'MAILBOX_FULL',
  'AGENT_NOT_FOUND',
  'CAPABILITY_NOT_FOUND',
  'SUPERVISOR_GAVE_UP',
  'SYSTEM_STOPPED',
  'CONTROL_LOST',
  'STORE_FAILED',
  'NOT_SERIALISABLE',
  'POISON',
]);

/**
 * The outcome of a task; undefined while it is not over, and if it was cancelled. `served` is the tool, if the caller still
 * sees it. `name` is the tool's.
 */
export function outcomeOf(task: Task, served: ServedTool | undefined, name: string): TaskOutcome | undefined {
  const { state } = task.status;
  if (state === 'completed') {
    const attestation = task.status.message?.metadata?.[ATTESTATION_URI];
    return { kind: 'result', result: withAttestation(resultIn(task, served), attestation) };
  }
  if (state === 'failed' || state === 'rejected') return failureIn(task, served?.tool.agentId ?? name);
  return undefined;
}

function resultIn(task: Task, served: ServedTool | undefined): Result {
  const artifact = task.artifacts.findLast(({ artifactId }) => artifactId.startsWith('result-'));
  const parts = artifact?.parts ?? [];
  if (served?.tool.streams === true) return resultOf(served, parts.map(valueIn));
  const [first] = parts;
  const output = first === undefined ? undefined : valueIn(first);
  if (served !== undefined) return resultOf(served, output);
  return {
    content: [{ type: 'text', text: typeof output === 'string' ? output : (JSON.stringify(output) ?? '') }],
  };
}

const valueIn = (part: Part): unknown => {
  if ('data' in part) return part.data;
  if ('text' in part) return part.text;
  if ('url' in part) return part.url;
  const { raw, mediaType, filename } = part;
  return { bytes: raw, mediaType, ...(filename === undefined ? {} : { filename }) };
};

/** The `statusMessage` of a task. */
export function saidOf({ status }: Task): string | undefined {
  if (status.state === 'failed') return failureOf(status).message;
  const texts = status.message?.parts.flatMap((part) => ('text' in part ? [part.text] : [])) ?? [];
  return texts.join('\n') || undefined;
}

function failureIn({ status }: Task, agentId: string): TaskOutcome {
  const failure = failureOf(status);
  const { code, message, id } = failure;
  if (!BROKEN.has(code)) return { kind: 'result', result: errorResult(failure, agentId) };
  const number = mcpErrorOf(new OrreryError(code, message)).code;
  const data = { code, agentId, ...(id !== undefined && { id }) };
  return { kind: 'error', error: { code: number, message, data } };
}

/** Reads the failure that the task engine has written. It holds nothing of what was thrown. */
function failureOf(status: Task['status']): ToldFailure {
  const parts = status.message?.parts ?? [];
  const data = parts.flatMap((part) => ('data' in part && isObject(part.data) ? [part.data] : []))[0] as
    | {
        readonly code?: unknown;
        readonly reason?: unknown;
        readonly message?: unknown;
        readonly id?: unknown;
      }
    | undefined;
  const code = String(data?.reason ?? data?.code ?? 'HANDLER_FAILED') as ErrorCode;
  const message = String(data?.message ?? 'The task failed');
  return { code, message, ...(typeof data?.id === 'string' && { id: data.id }) };
}
