import type { Mail } from '../mailbox/mail.ts';
import { cancelled, type OrreryError } from '../protocol/errors.ts';

const KEPT = 1_024;

/** The last envelopes that were cancelled: what they caused is recognised by its path. */
export class Cancellations {
  readonly #reasons = new Map<string, OrreryError>();

  add(envelopeId: string): OrreryError {
    const reason = cancelled(`Envelope ${envelopeId}`);
    this.#reasons.set(envelopeId, reason);
    if (this.#reasons.size > KEPT) this.#reasons.delete(this.#reasons.keys().next().value as string);
    return reason;
  }

  /** Why `mail` is cancelled: it was, or an envelope that caused it. */
  reasonFor(mail: Mail): OrreryError | undefined {
    if (this.#reasons.size === 0) return undefined;
    const own = this.#reasons.get(mail.id);
    if (own !== undefined || mail.path === undefined) return own;
    for (const hop of mail.path) {
      const above = this.#reasons.get(hop.envelopeId);
      if (above !== undefined) return above;
    }
    return undefined;
  }
}

/** Says whether `mail` is the envelope, or was caused by it. */
export const isCausedBy = (mail: Mail, envelopeId: string): boolean =>
  mail.id === envelopeId || mail.path?.some((hop) => hop.envelopeId === envelopeId) === true;
