import { z } from 'zod';
import { reportIn } from '../../runtime/protocol/a2a-extension.ts';
import { inputRequired, remoteFailed } from '../../runtime/protocol/edge-errors.ts';
import { OrreryError } from '../../runtime/protocol/errors.ts';
import type { RemoteTask } from '../../runtime/protocol/remote-agent.ts';
import { sharedCodeOf } from '../../runtime/protocol/remote-codes.ts';
import { textOf } from './remote-values.ts';

const Said = z.object({ code: z.string(), message: z.string().default(''), reason: z.string().optional() });

/** Why a task elsewhere came to nothing, as an error of whoever was asked for it here. */
export function failureOf(task: RemoteTask, url: string): OrreryError {
  const { state, message } = task.status;
  const facts = { remote: { url, taskId: task.id, state } };
  const said = saidIn(task);
  const sentence = said?.message || textOf(message) || `its task is ${state}`;
  const same = sharedCodeOf(said?.reason ?? said?.code);
  if (same !== undefined) return new OrreryError(same, `${url} answers: ${sentence}`, { details: facts });
  return remoteFailed(
    url,
    sentence,
    said === undefined ? facts : { remote: { ...facts.remote, code: said.code } },
  );
}

/** The task waits for an answer: the error says how it is given. */
export const questionOf = (task: RemoteTask, agentId: string, url: string): OrreryError =>
  inputRequired(agentId, textOf(task.status.message) ?? 'it needs something more', {
    remote: { url, taskId: task.id, state: task.status.state },
    a2a: { taskId: task.id, ...(task.contextId === undefined ? {} : { contextId: task.contextId }) },
    parts: task.status.message?.parts ?? [],
  });

/** By our extension, or as `{code, message}` in a data part. */
function saidIn({ status: { message } }: RemoteTask): z.output<typeof Said> | undefined {
  const reported = reportIn(message?.metadata)?.error;
  if (reported !== undefined) return reported;
  for (const part of message?.parts ?? []) {
    const said = 'data' in part ? Said.safeParse(part.data) : undefined;
    if (said?.success === true) return said.data;
  }
  return undefined;
}
