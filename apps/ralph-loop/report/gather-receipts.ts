import type { System } from 'orrery';
import type { MissionOutcome } from '../loop/mission-outcome.ts';
import type { Receipts } from './mission-report.ts';
import { threadEntry } from './thread-entry.ts';

/** Reads from a running system what it did: counts of envelopes, restarts, dead letters, and the thread of each task. */
export async function gatherReceipts(
  system: Pick<System, 'conservation' | 'roster' | 'deadLetters' | 'thread'>,
  { tasks }: Pick<MissionOutcome, 'tasks'>,
): Promise<Receipts> {
  const correlationIds = [...new Set(tasks.map(({ context }) => context.item.correlationId))];
  const [envelopes, roster, deadLetters, threads] = await Promise.all([
    system.conservation(),
    system.roster(),
    system.deadLetters(),
    Promise.all(correlationIds.map((id) => system.thread(id))),
  ]);
  return {
    envelopes: { ...envelopes },
    agents: roster.map(({ id, name, place, threadId, pid, status, restarts }) => ({
      id,
      name,
      place,
      ...(threadId === undefined ? {} : { threadId }),
      ...(pid === undefined ? {} : { pid }),
      status,
      restarts,
    })),
    deadLetters: deadLetters.map(({ id, sender, recipient, code, reason }) => ({
      ...(id === undefined ? {} : { id }),
      sender,
      recipient,
      code,
      reason,
    })),
    threads: correlationIds.map((correlationId, at) => ({
      correlationId,
      envelopes: (threads[at] ?? []).map(threadEntry),
    })),
  };
}
