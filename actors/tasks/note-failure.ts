import { errorToData, stackOf } from '../../runtime/protocol/errors.ts';
import type { NoteFailure } from '../../runtime/protocol/told-failure.ts';
import type { AgentClient } from '../../runtime/public.ts';

/** Notes as an event of the system (`error`, with `errorId`) what was thrown, of which a caller is told nothing but that id. */
export const noteAt =
  (client: Pick<AgentClient, 'agentId' | 'note' | 'seams'>): NoteFailure =>
  (error) => {
    const errorId = client.seams.newId();
    const { code, message } = errorToData(error);
    const stack = stackOf(error);
    client.note({
      type: 'error',
      agentId: client.agentId,
      errorId,
      errorCode: code,
      reason: message,
      success: false,
      ...(stack !== undefined && { stack }),
    });
    return errorId;
  };
