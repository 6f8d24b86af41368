import { z } from 'zod';
import { reportIn } from '../../runtime/protocol/a2a-extension.ts';
import { inputRequired, remoteFailed } from '../../runtime/protocol/edge-errors.ts';
import { OrreryError } from '../../runtime/protocol/errors.ts';
import type { RemoteTask } from '../../runtime/protocol/remote-agent.ts';
import { sharedCodeOf } from '../../runtime/protocol/remote-codes.ts';
import { textOf } from './remote-values.ts';

const ReportedError = z.object({
  code: z.string(),
  message: z.string().default(''),
  reason: z.string().optional(),
});

/** The error for a remote task that has failed: with the remote code if both sides share it, else REMOTE_FAILED. */
export function failureOf(task: RemoteTask, url: string): OrreryError {
  const { state, message } = task.status;
  const facts = { remote: { url, taskId: task.id, state } };
  const said = errorIn(task);
  const sentence = said?.message || textOf(message) || `its task is ${state}`;
  const same = sharedCodeOf(said?.reason ?? said?.code);
  if (same !== undefined) return new OrreryError(same, `${url} answers: ${sentence}`, { details: facts });
  return remoteFailed(
    url,
    sentence,
    said === undefined ? facts : { remote: { ...facts.remote, code: said.code } },
  );
}

/** The INPUT_REQUIRED error for a remote task that waits for input; `details.a2a` names the task to continue. */
export const questionOf = (task: RemoteTask, agentId: string, url: string): OrreryError =>
  inputRequired(agentId, textOf(task.status.message) ?? 'it needs something more', {
    remote: { url, taskId: task.id, state: task.status.state },
    a2a: { taskId: task.id, ...(task.contextId === undefined ? {} : { contextId: task.contextId }) },
    parts: task.status.message?.parts ?? [],
  });

/** The remote error, in our extension or as `{code, message}` in a data part. */
function errorIn({ status: { message } }: RemoteTask): z.output<typeof ReportedError> | undefined {
  const reported = reportIn(message?.metadata)?.error;
  if (reported !== undefined) return reported;
  for (const part of message?.parts ?? []) {
    const said = 'data' in part ? ReportedError.safeParse(part.data) : undefined;
    if (said?.success === true) return said.data;
  }
  return undefined;
}
