/** What a bare peer is told beside envelopes: say how many were handled, or send so many findings. */
export interface BareOrder {
  readonly order: 'count' | 'stream';
  readonly count: number;
}

/** What it says: an answer, a finding of a stream, or how many envelopes it handled. */
export interface BareSaying {
  readonly id?: string;
  readonly payload?: unknown;
  readonly value?: unknown;
  readonly handled?: number;
}

/** Those at the other end. */
export const RECEIVERS = 1;
