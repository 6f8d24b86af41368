import { OrreryError } from './errors.ts';
import type { Taint } from './taint.ts';

/* What goes wrong with tools, resources and prompts. */

/** N-5.5: nothing of what came with it is registered. */
export const duplicateTool = (name: string, agentId: string): OrreryError =>
  new OrreryError('DUPLICATE_TOOL', `There is a tool "${name}" already: it is one of ${agentId}`, {
    details: { name, agentId },
  });

export const toolNotFound = (name: string): OrreryError =>
  new OrreryError('TOOL_NOT_FOUND', `There is no tool "${name}"`, { details: { name } });

/** N-6.3 */
export const resourceNotFound = (uri: string): OrreryError =>
  new OrreryError('RESOURCE_NOT_FOUND', `There is no resource ${uri}`, { details: { uri } });

export const promptNotFound = (name: string): OrreryError =>
  new OrreryError('PROMPT_NOT_FOUND', `There is no prompt "${name}"`, { details: { name } });

/** F-09: what came from outside does not reach what is privileged unless somebody has approved it. */
export const tainted = (capability: string, taint: Taint, reason: string): OrreryError =>
  new OrreryError(
    'TAINTED',
    `"${capability}" is privileged, and this came from outside (${taint.join(', ')}): ${reason}`,
    { details: { capability, taint, reason } },
  );
