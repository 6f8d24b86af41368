/** A mailbox has three lanes; an envelope's sender chooses one. */
export const LANE = { system: 0, user: 1, callback: 2 } as const;
export type Lane = (typeof LANE)[keyof typeof LANE];
