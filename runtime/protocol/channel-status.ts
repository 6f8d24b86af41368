import { z } from 'zod';

/** Where one end of a channel stands. */
export const ChannelStatus = z.enum(['connecting', 'open', 'reconnecting', 'closed']);
export type ChannelStatus = z.infer<typeof ChannelStatus>;
