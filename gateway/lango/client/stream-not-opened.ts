import { OrreryError, reasonOf } from '../../../runtime/protocol/errors.ts';

/** REMOTE_UNREACHABLE, in the words of seed 0: nothing was sent. */
export const streamNotOpened = (peer: string, cause: unknown): OrreryError => {
  const reason = reasonOf(cause);
  return new OrreryError('REMOTE_UNREACHABLE', `open stream to ${peer}: ${reason}`, {
    details: { url: peer, reason, mayHaveArrived: false },
    cause,
  });
};
