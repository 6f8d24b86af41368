import { errorToData, isOrreryError, OrreryError } from '../../runtime/protocol/errors.ts';

/** The error of a tool, with the agent's id. Its cause stays. */
export function whoseTool(error: unknown, agentId: string): OrreryError {
  const { code, message } = errorToData(error);
  const details = isOrreryError(error) ? error.details : {};
  return new OrreryError(code, message, { details: { ...details, agentId }, cause: error });
}
