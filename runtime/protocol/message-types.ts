/** The envelope version that this runtime writes and reads. */
export const SCHEMA_VERSION = 1;

/** The types of envelopes. */
export const A2A_MESSAGE_TYPES = [
  'request',
  'response',
  'notification',
  'task-proposal',
  'task-accept',
  'task-reject',
  'stream-start',
  'stream-data',
  'stream-end',
  'error',
] as const;
