import { z } from 'zod';
import type { Principal } from '../../runtime/protocol/principal.ts';
import type { MissionBoard } from './watch-state.ts';

/** The role of principals that may watch. */
export const OPERATOR = 'operator';

const isFunction = (value: unknown): boolean => typeof value === 'function';
const given = <Type>(expected: string) => z.custom<Type>(isFunction, expected);

/**
 * How a system can be watched, by the page and by others.
 *
 * - `mayWatch`        who may see everything that happens. @default principals with the role `operator`; nobody in particular
 *                     where callers prove nothing and only this machine can reach it
 * - `unlockToken`     whoever has it beside may also act: send a dead letter again. @default nobody may
 * - `eventsPerSecond` how many a watcher is shown at most; what is left out is counted. @default 2_000
 * - `mission`         the board of the mission that runs.
 * - `nodes`           other nodes that are shown beside this one, each with the token of somebody who may watch it there.
 * - `page`            the folder with the built page, as a URL that ends with a slash. @default the one in the package
 */
export const WatchOptions = z.strictObject({
  mayWatch: given<(principal: Principal) => boolean>('a function').optional(),
  unlockToken: z.string().min(16).optional(),
  eventsPerSecond: z.number().min(10).max(100_000).default(2_000),
  mission: given<() => MissionBoard | undefined>('a function').optional(),
  nodes: z
    .array(z.strictObject({ url: z.url({ protocol: /^https?$/ }), token: z.string().min(1) }))
    .max(64)
    .default([]),
  page: z.instanceof(URL).optional(),
});
export type WatchOptions = z.input<typeof WatchOptions>;
export type ParsedWatchOptions = z.output<typeof WatchOptions>;
