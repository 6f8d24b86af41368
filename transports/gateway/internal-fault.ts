/** What a caller is told, in every protocol, of an error that is none of its business: its operator is told which it was. */
export const INTERNAL_SENTENCE = 'The request failed for a reason inside the system';
