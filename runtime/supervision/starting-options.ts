import { z } from 'zod';
import { Milliseconds } from '../protocol/milliseconds.ts';

/**
 * When starting is given up: never for want of processor time, only when nothing happens or a module does not end.
 *
 * - `quietMs`   how long a thread, a process or the journal may do nothing while it starts or loads a module: it says
 *               nothing and uses no processor time. @default 30,000
 * - `computeMs` processor time that a module may use without a pause while it is loaded. @default 30,000
 */
export const StartingOptions = z.strictObject({
  quietMs: Milliseconds.default(30_000),
  computeMs: Milliseconds.default(30_000),
});
export type StartingOptions = z.input<typeof StartingOptions>;
