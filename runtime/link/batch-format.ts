import type { Mail } from '../mailbox/mail.ts';
import type { Taint } from '../protocol/taint.ts';

/**
 * How envelopes and answers cross between threads: JSON in columns with a dictionary of strings, many at a time; flat
 * for one. What JSON cannot say rides beside it by structured clone.
 */

/** Added to a mail's type, or to a reply's kind: the payload is undefined, or lies among the clones. */
export const UNDEFINED = 16;
export const STRUCTURED = 32;
/** Added to a reply's kind: the payload is a pair, of where it came from outside and of what it is. */
export const TAINTED = 64;

/** What a post is: one mail, one answer, or columns of many things. */
export const FLAT_MAIL = -1;
export const FLAT_REPLY = -2;
export const FULL = 0;

/** Correlation ids that are not written out: none or that of the context, the envelope's own id. */
export const NO_CORRELATION = 0;
export const OWN_ID = 1;

/** What a decoded batch is told to, one call an item, in the order in which it was sent. */
export interface BatchSink {
  header(tableVersion: number, peak: number): void;
  introduce(
    flow: number,
    slot: number,
    lane: number,
    received: number,
    slab: SharedArrayBuffer | undefined,
  ): void;
  mail(flow: number, mail: Mail): void;
  reply(ask: number, kind: number, payload: unknown, taint?: Taint): void;
  cancel(envelopeId: string): void;
  pull(ask: number, count: number): void;
}

/** The kind of a reply whose payload crosses by structured clone. */
export const structuredKind = (kind: number): number => kind + STRUCTURED;
