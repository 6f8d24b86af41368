import { z } from 'zod';

/**
 * - `eventsPerSecond` how many events a thread tells a second at most, about. @default every one
 * - `inOrder`         the events of all threads come in one order, an envelope's sending before its receipt; for that each is
 *                     held back for a moment. @default false: those of a thread in its order, as they arrive
 */
export const InspectOptions = z.strictObject({
  eventsPerSecond: z.number().min(10).optional(),
  inOrder: z.boolean().default(false),
});
export type InspectOptions = Readonly<z.input<typeof InspectOptions>>;
