import { z } from 'zod';
import { FreshJsonFields } from '../../../runtime/protocol/json-value.ts';
import type { TaskMessage } from '../../../runtime/protocol/task.ts';
import { ROLE_NAMES, defined, optional } from './parts.ts';

/** Free facts beside a message, task or request. */
export const Metadata = FreshJsonFields;

/** Whose message it is, by the name that any dialect has for the role. */
export const AnyRole = z
  .enum(['user', 'agent', ROLE_NAMES.user, ROLE_NAMES.agent])
  .transform((said): TaskMessage['role'] => (said === 'user' || said === ROLE_NAMES.user ? 'user' : 'agent'));

/** The fields that a message may have in every dialect, beside its parts. */
export const MessageFacts = {
  contextId: optional(z.string()),
  metadata: optional(Metadata),
  extensions: optional(z.array(z.string())),
  referenceTaskIds: optional(z.array(z.string())),
};

/** A message as a dialect's schema has read it: fields that are missing are undefined. */
interface ReadMessage {
  readonly messageId?: string | undefined;
  readonly role: TaskMessage['role'];
  readonly parts: TaskMessage['parts'];
  readonly metadata?: TaskMessage['metadata'] | undefined;
  readonly extensions?: TaskMessage['extensions'] | undefined;
  readonly referenceTaskIds?: TaskMessage['referenceTaskIds'] | undefined;
}

/** The message without the fields that are missing. `newId` makes an id for a message without one. */
export function messageOf(read: ReadMessage, newId: () => string): TaskMessage {
  const { role, parts, messageId, metadata, extensions, referenceTaskIds } = read;
  const facts = defined({ metadata, extensions, referenceTaskIds });
  return { messageId: messageId ?? newId(), role, parts, ...facts };
}
