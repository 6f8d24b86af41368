import { z } from 'zod';

/** The longest time of a timer, about 25 days. A longer one would fire at once. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

/** A time limit in milliseconds, which a timer can hold. */
export const Milliseconds = z.number().positive().max(MAX_TIMER_MS);
