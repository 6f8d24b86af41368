/** What an answer says. `empty` is the value undefined. */
export const REPLY = { value: 0, error: 1, progress: 2, chunk: 3, end: 4, empty: 5 } as const;
