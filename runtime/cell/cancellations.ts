import type { Mail } from '../mailbox/mail.ts';
import { cancelled, type OrreryError } from '../protocol/errors.ts';

/** More than wait at a time where one signal ends many asks. */
const KEPT = 16_384;

/** The last envelopes that were cancelled: what they caused is recognised by its path. */
export class Cancellations {
  readonly #ids = new Set<string>();

  add(envelopeId: string): OrreryError {
    this.#ids.add(envelopeId);
    if (this.#ids.size > KEPT) this.#ids.delete(this.#ids.keys().next().value as string);
    return reasonOf(envelopeId);
  }

  /** Why `mail` is cancelled: it was, or an envelope that caused it. */
  reasonFor(mail: Mail): OrreryError | undefined {
    if (this.#ids.size === 0) return undefined;
    if (this.#ids.has(mail.id)) return reasonOf(mail.id);
    const above = mail.path?.find(({ envelopeId }) => this.#ids.has(envelopeId));
    return above && reasonOf(above.envelopeId);
  }
}

const reasonOf = (envelopeId: string): OrreryError => cancelled(`Envelope ${envelopeId}`);

/** Says whether `mail` is the envelope, or was caused by it. */
export const isCausedBy = (mail: Mail, envelopeId: string): boolean =>
  mail.id === envelopeId || mail.path?.some((hop) => hop.envelopeId === envelopeId) === true;
