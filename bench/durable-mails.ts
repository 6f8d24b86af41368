import type { StoredMail } from '../runtime/protocol/store.ts';
import { UNIT } from './contenders/durable.ts';
import { envelopeSource } from './envelope.ts';

const DIFFERENT = 1_024;

/** Units of envelopes as JSON, made beforehand: nobody is measured writing JSON. */
export function durableUnits(): (unit: number) => readonly StoredMail[] {
  const makeEnvelope = envelopeSource('tiers', 'notification');
  const mails = Array.from({ length: DIFFERENT }, (_, n) => {
    const envelope = makeEnvelope(n);
    return { recipient: envelope.recipient, body: JSON.stringify(envelope) };
  });
  const units = Array.from({ length: DIFFERENT / UNIT }, (_, at) => mails.slice(at * UNIT, (at + 1) * UNIT));
  return (unit) => units[unit % units.length] ?? [];
}
