import { z } from 'zod';
import { invalidPayload } from '../../../runtime/protocol/errors.ts';
import { faultsOf } from '../../../runtime/protocol/payload-faults.ts';
import { AnyRole, MessageFacts } from './message-fields.ts';
import type { Json } from './json.ts';
import type { PushConfig, SendOrder } from './operations.ts';
import { AnyPart, defined, optional, sentParts } from './parts.ts';

/** How many of the newest messages are wanted. */
export const HistoryLength = z.int().nonnegative();

const Text = z.string().min(1);

/**
 * A message as the older dialects have it: task and conversation stand in it or beside it, and it has an id of its own only
 * since 0.2. What is not known is left out.
 */
export const OldMessage = z.object({
  ...MessageFacts,
  role: AnyRole,
  parts: sentParts(AnyPart),
  messageId: optional(Text),
  taskId: optional(Text),
  contextId: optional(Text),
});
export type OldMessage = z.output<typeof OldMessage>;

/** Where news is to go. Of several authentication schemes the first is used. */
export const OldPush = z
  .object({
    id: optional(Text),
    url: z.url({ protocol: /^https?$/ }),
    token: optional(z.string()),
    authentication: optional(
      z.object({ schemes: z.array(Text).default([]), credentials: optional(z.string()) }),
    ),
  })
  .transform(({ id, url, token, authentication }): NonNullable<SendOrder['push']> => {
    const [scheme] = authentication?.schemes ?? [];
    const credentials = defined({ credentials: authentication?.credentials });
    const proof = scheme === undefined ? {} : { authentication: { scheme, ...credentials } };
    return { url, ...defined({ id, token }), ...proof };
  });

/** Where news goes, as the older dialects have it. */
export function writePush({ id, url, token, authentication }: PushConfig): { readonly [key: string]: Json } {
  if (authentication === undefined) return { id, url, ...defined({ token }) };
  const { scheme, credentials } = authentication;
  return {
    id,
    url,
    ...defined({ token }),
    authentication: { schemes: [scheme], ...defined({ credentials }) },
  };
}

/** Since when, in ISO 8601. */
export const isoOf = (atMs: number): string => new Date(atMs).toISOString();

/** What `schema` makes of a request's parameters. Throws INVALID_PAYLOAD naming the fields at fault and their values. */
export function readParams<Schema extends z.ZodType>(
  schema: Schema,
  params: unknown,
  method: string,
): z.output<Schema> {
  const parsed = schema.safeParse(params, { reportInput: true });
  if (parsed.success) return parsed.data;
  throw invalidPayload(method, faultsOf(parsed.error, params));
}
