import { z } from 'zod';
import { Milliseconds } from '../../runtime/protocol/milliseconds.ts';
import { parseOptions } from '../../runtime/protocol/parse-options.ts';
import type { AgentPort } from '../agent-port/agent-port.ts';
import { REASON } from './negotiation-message.ts';
import type { TaskProposal } from './proposal.ts';

const TakenOn = z.strictObject({ estimatedCompletionMs: Milliseconds });
const Declined = z.strictObject({ reason: z.string().min(1), alternative: z.string().min(1).optional() });

/** What an agent says to a proposal. Made by `takeOn` and `decline`. */
export type Decision =
  | { readonly isTakenOn: true; readonly estimatedCompletionMs: number }
  | { readonly isTakenOn: false; readonly reason: string; readonly alternative: string | undefined };

/** The agent takes the task on; `estimatedCompletionMs`: how long the work will take. */
export function takeOn(options: z.input<typeof TakenOn>): Decision {
  return { isTakenOn: true, ...parseOptions(TakenOn, options, 'takeOn') };
}

/** The agent does not; `reason`: a code, `alternative`: another agent that might. */
export function decline(options: z.input<typeof Declined>): Decision {
  const { reason, alternative } = parseOptions(Declined, options, 'decline');
  return { isTakenOn: false, reason, alternative };
}

/** Decides on a proposal that has come in; undefined leaves it open, to be answered by `accept` or `reject`. */
export type Decide = (proposal: TaskProposal) => Decision | undefined | Promise<Decision | undefined>;

/** A mailbox is nearly full when it has less than this part of its room left. */
const ROOM_WANTED = 0.2;
/** How long a task of each kind is taken to last where nobody has said anything better. */
const TYPICAL_MS = { simple: 1_000, medium: 10_000, complex: 60_000 } as const;

/**
 * What is decided for an agent that says nothing about it: it takes on what it has the capabilities for, unless its mailbox
 * is nearly full. What waits there already is taken to be as much work each.
 */
export function decideByCard(
  { requiredCapabilities, estimatedComplexity }: TaskProposal,
  { capabilities, mailbox }: Pick<AgentPort, 'capabilities' | 'mailbox'>,
): Decision {
  if (!requiredCapabilities.every((id) => capabilities.includes(id)))
    return decline({ reason: REASON.notCapable });
  const { waiting, capacity } = mailbox;
  if (capacity - waiting < capacity * ROOM_WANTED) return decline({ reason: REASON.busy });
  return takeOn({ estimatedCompletionMs: TYPICAL_MS[estimatedComplexity] * (waiting + 1) });
}
