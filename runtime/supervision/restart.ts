import { z } from 'zod';

/** As in OTP: always restarted, only after an abnormal end, or never. */
export const Restart = z.enum(['permanent', 'transient', 'temporary']);
export type Restart = z.infer<typeof Restart>;
