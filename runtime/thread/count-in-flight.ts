import type { InFlow } from '../mailbox/in-flow.ts';
import type { ThreadNode } from './thread-node.ts';

/** Counted, not computed: what lies in a thread's ledgers and, of flows without one, in its mailboxes. */
export function countInFlight(node: ThreadNode): number {
  const { outbox, links } = node;
  const isHeldHere = (flow: InFlow | undefined): boolean =>
    flow !== undefined && (flow.incarnation === -1 || links.orphans.has(flow));
  let count = outbox.trim() + outbox.undelivered;
  for (const link of links.all()) count -= link.queued;
  for (const cell of node.cells()) for (const mail of cell.mails()) if (isHeldHere(mail.flow)) count += 1;
  for (const flow of outbox.localFlows()) count += flow.uncommitted;
  for (const flow of links.orphans) count += flow.uncommitted;
  return count;
}
