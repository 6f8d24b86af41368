import { z } from 'zod';

/** The longest that a timer waits, about 25 days: one that is longer fires at once. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

/** How long something may take that a timer ends. */
export const Milliseconds = z.number().positive().max(MAX_TIMER_MS);
