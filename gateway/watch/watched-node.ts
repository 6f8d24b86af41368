import { z } from 'zod';
import type { RosterRow } from '../../runtime/protocol/roster.ts';

/** A thread or process, and the agents whose code runs in it. */
export interface WatchedPlace {
  readonly id: string;
  readonly kind: 'host' | 'control' | 'worker' | 'relay' | 'peers' | 'process';
  readonly pid?: number;
  readonly threadId?: number;
  readonly agents: readonly string[];
}

/** Names as others give them: of bounded length. */
const Name = z.string().max(512);
const row = <Row>() => z.custom<Row>((value) => Named.safeParse(value).success, 'an object with an id');
const Named = z.looseObject({ id: Name });

/** What another node says of itself, as far as it is shown here. What it says of its agents is looked at by whoever shows it. */
export const NodeState = z.object({
  format: z.literal('orrery-watch'),
  version: z.literal(1),
  node: Name,
  name: Name,
  nowMs: z.number(),
  agents: z.array(row<RosterRow>()).max(100_000).readonly(),
  places: z.array(row<WatchedPlace>()).max(10_000).readonly(),
});
export type NodeState = z.infer<typeof NodeState>;

/** Another node as watchers are shown it, its agents and threads by the names that they have here. `trouble`: why nothing new is known of it. */
export interface WatchedNode extends Partial<NodeState> {
  readonly url: string;
  readonly trouble?: string;
}
