import { z } from 'zod';
import { FreshJsonFields } from '../../../runtime/protocol/json-value.ts';
import type { TaskMessage } from '../../../runtime/protocol/task.ts';
import { ROLE_WORDS, defined, optional } from './parts.ts';

/** Free facts beside a message, task or request. */
export const Metadata = FreshJsonFields;

/** Who has said something, by the word of any dialect. */
export const AnyRole = z
  .enum(['user', 'agent', ROLE_WORDS.user, ROLE_WORDS.agent])
  .transform((said): TaskMessage['role'] => (said === 'user' || said === ROLE_WORDS.user ? 'user' : 'agent'));

/** What every dialect may have beside what is said. */
export const MessageFacts = {
  contextId: optional(z.string()),
  metadata: optional(Metadata),
  extensions: optional(z.array(z.string())),
  referenceTaskIds: optional(z.array(z.string())),
};

/** A message as it stands in whatever dialect, before what nobody has said in it is left out. */
interface Said {
  readonly messageId?: string | undefined;
  readonly role: TaskMessage['role'];
  readonly parts: TaskMessage['parts'];
  readonly metadata?: TaskMessage['metadata'] | undefined;
  readonly extensions?: TaskMessage['extensions'] | undefined;
  readonly referenceTaskIds?: TaskMessage['referenceTaskIds'] | undefined;
}

/** What was said: `newId` for who has not named the message. */
export function messageOf(said: Said, newId: () => string): TaskMessage {
  const { role, parts, messageId, metadata, extensions, referenceTaskIds } = said;
  const facts = defined({ metadata, extensions, referenceTaskIds });
  return { messageId: messageId ?? newId(), role, parts, ...facts };
}
