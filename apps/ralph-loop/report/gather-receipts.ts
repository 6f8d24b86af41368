import type { System } from 'orrery';
import type { Receipts } from './mission-report.ts';

/** Asks a running system for what it did: envelopes counted, restarts, dead letters. */
export async function gatherReceipts(
  system: Pick<System, 'conservation' | 'roster' | 'deadLetters'>,
): Promise<Receipts> {
  const [envelopes, roster, deadLetters] = await Promise.all([
    system.conservation(),
    system.roster(),
    system.deadLetters(),
  ]);
  return {
    envelopes: { ...envelopes },
    agents: roster.map(({ id, name, place, status, restarts }) => ({ id, name, place, status, restarts })),
    deadLetters: deadLetters.map(({ id, sender, recipient, code, reason }) => ({
      ...(id === undefined ? {} : { id }),
      sender,
      recipient,
      code,
      reason,
    })),
  };
}
