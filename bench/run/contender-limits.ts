/** How long a contender may take to be made ready, if its race does not say. */
export const OPEN_MS = 60_000;
/** How long it may take for one run. */
export const RUN_MS = 15_000;
/** How long it may take to close. */
export const CLOSE_MS = 5_000;
