import { createHash } from 'node:crypto';
import { invalidOptions } from '../../runtime/protocol/errors.ts';

const PREFIX = 'orrery/topic/1.0.0/';
const MAX_CHARACTERS = 256;

/** What a topic is called where ends of other kinds meet too. */
export const fullNameOf = (topic: string): string => `${PREFIX}${topic}`;

/** The 32 bytes under which ends of a topic are announced: SHA-256 of its full name in UTF-8. */
export const topicKey = (topic: string): Buffer => createHash('sha256').update(fullNameOf(topic)).digest();

/** Throws INVALID_OPTIONS for what is no name of a topic. */
export function requireTopic(topic: unknown): void {
  if (typeof topic !== 'string' || topic.length === 0 || topic.length > MAX_CHARACTERS)
    throw invalidOptions('topic', topic, `a text of 1 to ${MAX_CHARACTERS} characters`);
}
