import { z } from 'zod';
import type { AgentDefinition } from '../agent/agent-definition.ts';
import { MAX_TIMER_MS } from '../protocol/milliseconds.ts';
import type { FoundCard } from '../routing/discovery.ts';
import type { RemoteQuery } from '../routing/remote-lookup.ts';

/**
 * An agent of another node, as a lookup finds it.
 *
 * - `agent`   the way to it: such as `await remoteAgent(url)`, or one of your own that carries what it is sent. It runs in the
 *             embedder's thread.
 * - `card`    the card that its node gives it. @default that of `agent`
 * - `grant`   how it is judged, whatever its card says. @default tier 3, an unknown node
 * - `trusted` whether its card and its answers count as this system's own. @default false: they are marked `peer:<nodeId>`
 */
export interface FoundPeer extends Omit<FoundCard, 'card'> {
  readonly agent: AgentDefinition<unknown> | AgentDefinition;
  readonly card?: unknown;
  readonly trusted?: boolean;
}

const milliseconds = (least: number) => z.number().min(least).max(MAX_TIMER_MS);

/** The limits of `PeerOptions`. */
export const PeerLimits = z.strictObject({
  timeoutMs: milliseconds(1).default(2_000),
  missMs: milliseconds(0).default(5_000),
  maxFound: z.int().min(1).default(1_000),
});
export type PeerLimits = z.output<typeof PeerLimits>;

export const PeerOptions = PeerLimits.extend({
  lookup: z.custom<PeerOptions['lookup']>((value) => typeof value === 'function', 'a function'),
});

/**
 * Who is asked for agents and capabilities that nobody here has, before it is said that there is no such.
 *
 * - `lookup`    finds them on other nodes; resolves to an empty list when there are none. `signal` aborts after `timeoutMs`.
 *               What it throws is an `error` event, and to whoever asked the agent is not found.
 * - `timeoutMs` how long one lookup may take. @default 2_000
 * - `missMs`    how long it is remembered that nobody was found: until then the same is not looked up again. @default 5_000
 * - `maxFound`  agents that are taken in at most, as long as the system runs. @default 1_000
 */
export interface PeerOptions {
  readonly lookup: (query: RemoteQuery, signal: AbortSignal) => Promise<readonly FoundPeer[]>;
  readonly timeoutMs?: number;
  readonly missMs?: number;
  readonly maxFound?: number;
}
