import { fundCopy } from '../budget/mail-account.ts';
import { copyOf, type Mail } from '../mailbox/mail.ts';
import { COUNT } from '../observe/thread-counters.ts';
import { TRAFFIC } from '../observe/traffic-ring.ts';
import { BROADCAST } from '../protocol/envelope.ts';
import type { ErrorCode } from '../protocol/errors.ts';
import type { RoutingResult } from '../protocol/routing-result.ts';
import type { MailManner } from '../routing/mail-judge.ts';
import type { CellThread } from './cell-thread.ts';
import type { Handling } from './handling.ts';
import type { Identity } from './identity.ts';
import { laneFor } from './lane-for.ts';
import { fullVerdict, verdictOf } from './send-verdicts.ts';

const TOLD_ALL: MailManner = { isBroadcast: true, expectsReply: false };

/** Sends a copy of `mail` to everybody who may get it and has room; the result says who does, and why the others not. */
export function broadcast(
  thread: CellThread,
  from: Identity,
  mail: Mail,
  nowMs: number,
  parent: Handling | undefined,
): RoutingResult {
  const startedMs = thread.seams.clock.monotonicMs();
  const recipients: string[] = [];
  const refused: { agentId: string; code: ErrorCode; reason: string }[] = [];
  let isFull = false;
  for (const row of thread.table.rows()) {
    if (row.id === from.id && !thread.broadcastToSender) continue;
    const verdict = thread.judge.judge(from.party, row, mail, TOLD_ALL, nowMs);
    if (verdict !== undefined) {
      refused.push({ agentId: row.id, code: verdict.code, reason: verdict.reason });
      thread.log.refusal(from.party, mail, verdict, row);
      continue;
    }
    const lane = laneFor(from, row, mail);
    if (thread.outbox.room(row, lane) <= 0) {
      isFull = true;
      const full = fullVerdict(row);
      refused.push({ agentId: row.id, code: full.code, reason: full.reason });
      thread.log.refusal(from.party, mail, full, row);
      continue;
    }
    const copy = copyOf(mail);
    const unfunded = fundCopy(thread.accounts, copy, mail);
    if (unfunded !== undefined) {
      refused.push({ agentId: row.id, ...verdictOf(unfunded) });
      continue;
    }
    recipients.push(row.id);
    if (from.party.tier !== row.party.tier && !from.party.isSystem)
      thread.log.crossTier(from.party, row, mail);
    thread.outbox.accept(row, lane, copy, from.slot, parent);
  }
  const latencyMs = thread.seams.clock.monotonicMs() - startedMs;
  thread.log.routed(latencyMs);
  thread.log.traffic.note(TRAFFIC.sent, mail, mail.timestamp, undefined, latencyMs);
  const byType = COUNT.sentByType + mail.type;
  thread.counters[byType] = (thread.counters[byType] as number) + 1;
  return {
    delivered: !isFull,
    path: 'broadcast',
    targetAgentId: BROADCAST,
    latencyMs,
    recipients,
    refused,
    ...(isFull ? { errorCode: 'MAILBOX_FULL' as const, error: 'Some mailboxes are full; see refused' } : {}),
  };
}
