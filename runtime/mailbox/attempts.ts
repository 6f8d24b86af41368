import { errorToData, poison } from '../protocol/errors.ts';
import type { Taint } from '../protocol/taint.ts';
import type { Mail } from './mail.ts';

/** Tries that end in a death before an envelope is poison. */
export const MAX_ATTEMPTS = 3;

/** What its agent lived in died over the envelope, `attempts` times by now: after the last one there is no other. */
export function chargeDeaths(mail: Mail, attempts: number, { agentId, reason, taint }: DeathOver): void {
  mail.attempts = attempts;
  if (attempts < MAX_ATTEMPTS) return;
  mail.tombstone ??= { ...errorToData(poison(agentId, attempts, { reason })), ...(taint && { taint }) };
}

interface DeathOver {
  readonly agentId: string;
  readonly reason: string;
  readonly taint?: Taint;
}
