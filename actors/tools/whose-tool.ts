import { errorToData, isOrreryError, OrreryError } from '../../runtime/protocol/errors.ts';

/** The failure of a tool, which says whose it is; what it was caused by stays its cause. */
export function whoseTool(error: unknown, agentId: string): OrreryError {
  const { code, message } = errorToData(error);
  const details = isOrreryError(error) ? error.details : {};
  return new OrreryError(code, message, { details: { ...details, agentId }, cause: error });
}
