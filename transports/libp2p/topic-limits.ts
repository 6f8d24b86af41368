/** The largest message of a topic, in bytes. */
export const MAX_MESSAGE_BYTES = 65_536;

/** How long an end that died is found, milliseconds. */
export const RECORD_MS = 1_200_000;
