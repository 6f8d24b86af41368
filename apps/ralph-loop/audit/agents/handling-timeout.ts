/** For an ask that brings no deadline of its own: an hour is longer than any repository takes. */
export const HANDLING_TIMEOUT_MS = 3_600_000;
