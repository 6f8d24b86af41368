import { catalogueHash, unapproved } from '../protocol/catalogue-approval.ts';
import type { Taint } from '../protocol/taint.ts';
import type { Description } from '../agent/agent-description.ts';

export interface ForeignText {
  readonly taint: Taint;
  /** Says that the text is not approved, and how to approve it. */
  readonly reason: string;
}

/**
 * Taint and reason of a card whose text came from outside; undefined if it did not, or if `approved` is the card's hash. The
 * process says where the text came from; the host alone compares.
 */
export function foreignText(
  agentId: string,
  { options: { name, description }, capabilities, textFrom: taint, ...content }: Description,
  approved: string | undefined,
): ForeignText | undefined {
  if (taint === undefined) return undefined;
  const descriptors = capabilities.map(({ descriptor }) => descriptor);
  const hash = catalogueHash({ name, description, ...content, capabilities: descriptors });
  const reason = unapproved(agentId, hash, approved);
  return reason === undefined ? undefined : { taint, reason };
}
