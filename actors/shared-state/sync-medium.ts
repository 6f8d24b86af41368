import type { SyncMessage } from './sync-message.ts';

/**
 * Carries the messages of one sync channel between its members. It may lose, repeat, delay and reorder them, and
 * need not be trusted: messages are signed.
 *
 * - `publish`   to all other members. Resolves with how many it was passed on to, undefined where that is not known.
 * - `send`      to one member; nothing happens when there is no such member.
 * - `onMessage` one listener; it takes anything, never throws, and is never called from within `publish` or `send`.
 * - `close`     nothing arrives any more.
 *
 * What is passed on shares no memory with what was published. `publish` and `send` reject when the message could not be
 * passed on at all.
 */
export interface SyncMedium {
  publish(message: SyncMessage): Promise<number | undefined>;
  send(agentId: string, message: SyncMessage): Promise<void>;
  onMessage(listener: (message: unknown) => void): void;
  close(): Promise<void>;
}
