import { reasonOf } from '../protocol/errors.ts';
import { canJoin, type Transport } from '../protocol/transport.ts';
import type { AgentEndpoint } from '../protocol/agent-card.ts';

/** Who is told of what a topic brings, and of why it brings nothing. */
export interface TopicUser {
  onFound(endpoint: AgentEndpoint): void;
  onTrouble(reason: string): void;
}

/**
 * Announces this node under each topic with each transport that joins topics, and looks there for others, until the transport
 * listens no more. Resolves after the first announcements.
 */
export async function joinTopics(
  topics: readonly string[],
  transports: readonly Transport[],
  { onFound, onTrouble }: TopicUser,
): Promise<void> {
  const joins = transports.filter(canJoin).flatMap((transport) =>
    topics.map(async (name) => {
      const { kind } = transport;
      const of = `the topic "${name}" over ${kind}`;
      try {
        const topic = await transport.join(name, (address) => onFound({ transport: kind, address }));
        if (topic.trouble !== undefined) onTrouble(`${of} is tried again: ${topic.trouble}`);
      } catch (error) {
        onTrouble(`${of} was not joined: ${reasonOf(error)}`);
      }
    }),
  );
  await Promise.all(joins);
}
