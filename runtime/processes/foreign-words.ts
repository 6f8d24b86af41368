import { catalogueHash, unapproved } from '../protocol/catalogue-approval.ts';
import type { Taint } from '../protocol/taint.ts';
import type { Description } from '../agent/agent-description.ts';

export interface ForeignWords {
  readonly taint: Taint;
  /** That they are not approved, and how they would be. */
  readonly reason: string;
}

/**
 * What is to be told of a card in somebody else's words; undefined where it is in its owner's, or `approved` is its hash. The
 * process says whose they are, and the host alone compares.
 */
export function foreignWords(
  agentId: string,
  { options: { name, description }, capabilities, wordsFrom: taint, ...content }: Description,
  approved: string | undefined,
): ForeignWords | undefined {
  if (taint === undefined) return undefined;
  const descriptors = capabilities.map(({ descriptor }) => descriptor);
  const hash = catalogueHash({ name, description, ...content, capabilities: descriptors });
  const reason = unapproved(agentId, hash, approved);
  return reason === undefined ? undefined : { taint, reason };
}
