import { z } from 'zod';
import { invalidPayload, OrreryError } from '../../../../runtime/protocol/errors.ts';
import { faultsOf } from '../../../../runtime/protocol/payload-faults.ts';
import { TaskOwner } from '../../../../runtime/protocol/task-service.ts';
import type { PushConfig } from '../../wire/operations.ts';

/** What can stand in a header's value, without spaces at its ends. */
const HeaderText = z
  .string()
  .max(4_096)
  .regex(/^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/, 'expected printable ASCII characters');
/** RFC 9110, 5.6.2. */
const SchemeName = z
  .string()
  .max(64)
  .regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, 'expected the name of an HTTP authentication scheme');

const Config = z.strictObject({
  id: z.string().min(1).max(256),
  taskId: z.string().min(1),
  url: z.string().min(1),
  token: HeaderText.optional(),
  authentication: z.strictObject({ scheme: SchemeName, credentials: HeaderText.optional() }).optional(),
});

/** A config without the undefined fields that a schema may leave. Throws INVALID_PAYLOAD naming the field. */
export function parseConfig(config: unknown): PushConfig {
  const parsed = Config.safeParse(config);
  if (parsed.success) return withoutUndefined(parsed.data) as PushConfig;
  throw invalidPayload('push notification config', faultsOf(parsed.error, config));
}

const withoutUndefined = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

/**
 * Why nothing more is sent: since when, Unix milliseconds, and what the receiver last answered or what kept it from being
 * asked.
 */
const GaveUp = z.strictObject({ atMs: z.number(), reason: z.string() });

/**
 * A config with what is known of its deliveries, as it is kept.
 *
 * - `dialect`        the version of A2A in which it was made, and in which its receiver is told.
 * - `acknowledged`   the receiver has every change up to this number.
 * - `failingSinceMs` since when no attempt at the next one has succeeded, Unix milliseconds.
 */
export const PushRecord = z.strictObject({
  owner: TaskOwner,
  config: Config,
  dialect: z.string().min(1),
  createdAtMs: z.number(),
  acknowledged: z.int().nonnegative(),
  failingSinceMs: z.number().optional(),
  gaveUp: GaveUp.optional(),
});
export type PushRecord = Omit<z.infer<typeof PushRecord>, 'config'> & { readonly config: PushConfig };

/** There is no such config, or it is of somebody else's task: who asks does not learn which. */
export const pushConfigNotFound = (taskId: string, id: string): OrreryError =>
  new OrreryError('TASK_NOT_FOUND', `The task "${taskId}" has no push notification config "${id}"`, {
    details: { taskId, id },
  });
