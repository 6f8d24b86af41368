import type { AgentDefinition } from './agent-definition.ts';
import type { AgentOptions, OnThrow } from './agent-options.ts';
import type { Restart, AgentSupervision } from '../supervision/supervisor-options.ts';
import type { ProcessAgent } from './agent-description.ts';
import type { AgentCard } from '../protocol/agent-card.ts';
import type { Delivery } from '../protocol/envelope.ts';
import { invalidOptions } from '../protocol/errors.ts';
import type { AgentProfile, Clearance } from '../protocol/agent-row.ts';

const DEFAULT_CAPACITY = 1_000;

/** What a module says of its agent; `process` if its code runs in a process of its own. */
export interface LoadedAgent {
  readonly card: AgentCard;
  readonly delivery: Delivery;
  readonly mailboxCapacity: number;
  readonly lazy: boolean;
  /** @default what the system says */
  readonly durable: boolean | undefined;
  readonly restart: Restart;
  /** @default what the system says */
  readonly supervision: AgentSupervision | undefined;
  readonly onThrow: OnThrow;
  /** How many envelopes it may have in hand at a time. */
  readonly concurrency: number;
  /** It is a proxy of what runs elsewhere: it keeps nothing between two envelopes. */
  readonly isProxy: boolean;
  readonly process: ProcessAgent | undefined;
  /** The node where it lives, if that is another one. */
  readonly node: string | undefined;
  /** How an agent of another node is judged. @default by tier and sandbox of its card */
  readonly clearance?: Clearance;
}

/** The agent that a definition says, under this card. */
export function loadedAgent(
  { options, node, concurrency, isProxy }: AgentDefinition<unknown>,
  card: AgentCard,
  process?: ProcessAgent,
): LoadedAgent {
  return {
    card,
    delivery: options.delivery ?? 'once',
    mailboxCapacity: options.mailboxCapacity ?? DEFAULT_CAPACITY,
    lazy: options.lazy ?? false,
    durable: options.durable,
    restart: options.restart ?? 'permanent',
    supervision: options.supervision,
    onThrow: options.onThrow ?? 'restart',
    concurrency,
    isProxy,
    process,
    node,
  };
}

/** An agent of another node is judged as its owner here has it say, and known for one; undefined for one of this node. */
export const clearanceOf = ({
  card: { tier, sandboxId },
  node,
  clearance,
}: LoadedAgent): Clearance | undefined =>
  clearance ?? (node === undefined ? undefined : { tier, sandboxId, nodeId: node });

/**
 * Throws INVALID_OPTIONS where an agent whose mailbox and state are kept has actors that live on after a throw, or would be kept in
 * the middle of other work; and where one in a process of its own has several envelopes in hand: it is given one at a time.
 */
export function requireRunnable(
  { card: { id }, onThrow, concurrency, isProxy, process }: LoadedAgent,
  isDurable: boolean,
): void {
  if (isDurable) requireRestart({ id, onThrow }, 'an agent that is durable');
  if (isDurable && !isProxy) requireOneAtATime({ id, concurrency }, 'an agent that is durable');
  if (process !== undefined) requireOneAtATime({ id, concurrency }, 'an agent in a process of its own');
}

/** Throws INVALID_OPTIONS where `whose` would have several envelopes in hand. */
export function requireOneAtATime(
  { id, concurrency = 1 }: Pick<AgentOptions, 'id' | 'concurrency'>,
  whose: string,
): void {
  if (concurrency > 1) throw invalidOptions('agent.concurrency', concurrency, `1 for ${whose}, as ${id}`);
}

/** What a profile says of it: nothing of one that takes one at a time. */
export const concurrencyOf = ({ concurrency }: LoadedAgent): Pick<AgentProfile, 'concurrency'> =>
  concurrency > 1 ? { concurrency } : {};

/** Throws INVALID_OPTIONS where the actors of `whose` would live on with a state that a throw has left half changed. */
export function requireRestart({ id, onThrow }: Pick<AgentOptions, 'id' | 'onThrow'>, whose: string): void {
  if (onThrow === 'keep') throw invalidOptions('agent.onThrow', onThrow, `'restart' for ${whose}, as ${id}`);
}
