import { type A2AEnvelope, BROADCAST } from '../protocol/envelope.ts';
import type { Verdict } from '../protocol/policy.ts';
import type { AgentRow } from '../protocol/agent-row.ts';

/** What a recipient is: one agent's id, a capability's id, or everybody. */
export type AddressKind = 'agent' | 'capability' | 'broadcast';

export function addressKind({
  recipient,
  metadata,
}: Pick<A2AEnvelope, 'recipient' | 'metadata'>): AddressKind {
  if (metadata?.routingHint === 'capability') return 'capability';
  return recipient === BROADCAST ? 'broadcast' : 'agent';
}

/** How a row is judged, by whatever the caller has at hand. */
export type JudgeRow = (row: AgentRow) => Verdict | undefined;

/** The first row that may be written to; when there is none, the first row with its refusal. */
export function firstPermitted(
  rows: readonly AgentRow[],
  judgeRow: JudgeRow,
): { readonly row: AgentRow; readonly verdict: Verdict | undefined } | undefined {
  let first: { row: AgentRow; verdict: Verdict } | undefined;
  for (const row of rows) {
    const verdict = judgeRow(row);
    if (verdict === undefined) return { row, verdict };
    first ??= { row, verdict };
  }
  return first;
}

/** Everybody, parted into those who may be written to and those who may not. */
export function partition(
  rows: Iterable<AgentRow>,
  judgeRow: JudgeRow,
): {
  readonly permitted: AgentRow[];
  readonly refused: { readonly row: AgentRow; readonly verdict: Verdict }[];
} {
  const permitted: AgentRow[] = [];
  const refused: { row: AgentRow; verdict: Verdict }[] = [];
  for (const row of rows) {
    const verdict = judgeRow(row);
    if (verdict === undefined) permitted.push(row);
    else refused.push({ row, verdict });
  }
  return { permitted, refused };
}
