import {
  DELEGATION_URI,
  type DelegationParams,
  DelegationOrder,
  NEGOTIATE,
  NodeId,
} from '../../../runtime/protocol/a2a-extension.ts';
import type { AgentCard, CapabilityDescriptor } from '../../../runtime/protocol/agent-card.ts';
import { invalidPayload } from '../../../runtime/protocol/errors.ts';
import { parseOptions } from '../../../runtime/protocol/parse-options.ts';
import { faultsOf } from '../../../runtime/protocol/payload-faults.ts';
import type { Clock } from '../../../runtime/protocol/seams.ts';
import type { TaskTerms } from '../../../runtime/protocol/task-service.ts';
import type { A2AExtension } from './caller.ts';

/**
 * What the metadata of a message says about the terms of its work, as inside: the deadline as a moment (C-15), this system's
 * own agents in the path by the names that they have here. Nothing in it gives more than there is without it. Throws
 * INVALID_PAYLOAD naming field and value.
 */
export function termsOf(
  metadata: Readonly<Record<string, unknown>> | undefined,
  nowMs: number,
  node: string,
): Partial<TaskTerms> {
  const said = metadata?.[DELEGATION_URI];
  if (said === undefined) return {};
  const parsed = DelegationOrder.safeParse(said, { reportInput: true });
  if (!parsed.success) throw invalidPayload(DELEGATION_URI, faultsOf(parsed.error, said));
  const { deadlineMs, budget, path, assignment, resumeFrom } = parsed.data;
  return {
    ...(deadlineMs === undefined ? {} : { deadlineAtMs: nowMs + deadlineMs }),
    ...(budget === undefined ? {} : { budget }),
    ...(path === undefined
      ? {}
      : { path: path.map((hop) => ({ ...hop, agent: nameHere(hop.agent, node) })) }),
    ...(assignment === undefined ? {} : { assignment }),
    ...(resumeFrom === undefined ? {} : { resumeFrom }),
  };
}

/** `<node>/<agent>` is `<agent>` at that node; whoever lives elsewhere keeps the whole name. */
function nameHere(agent: string, node: string): string {
  const own = `${node}/`;
  return agent.startsWith(own) && agent.length > own.length ? agent.slice(own.length) : agent;
}

/**
 * - `node`       what this system is called elsewhere; another one has another name.
 * - `negotiator` the agent made by `negotiationAgent`. @default the first that offers what that does
 */
export interface DelegationExtensionOptions {
  readonly node: string;
  readonly negotiator?: string;
  readonly clock: Pick<Clock, 'now'>;
}

/**
 * The extension by which another system of Orrery delegates to this one (F-04, F-05), for a gateway. A message id is taken
 * once from each caller, activated or not: so much the tasks promise.
 */
export function delegationExtension({ clock, ...options }: DelegationExtensionOptions): A2AExtension {
  const node = parseOptions(NodeId, options.node, 'a2a.delegation.node');
  return {
    uri: DELEGATION_URI,
    description: 'Deadline, budget, delegation path and negotiation between two systems of Orrery',
    required: false,
    // A message that comes twice is one, and work goes on when its caller is cut off.
    needsTasks: true,
    paramsFor: ({ capabilities, baseUrl, team }): DelegationParams => {
      const negotiator = options.negotiator ?? negotiatorIn(team.cards());
      return {
        node,
        idempotent: true,
        ...(negotiator === undefined ? {} : { negotiator: `${baseUrl}/${encodeURIComponent(negotiator)}` }),
        skills: Object.fromEntries(capabilities.map(describe)),
      };
    },
    terms: ({ message }) => termsOf(message.metadata, clock.now(), node),
  };
}

const negotiatorIn = (cards: readonly AgentCard[]): string | undefined =>
  cards.find(({ capabilities }) => capabilities.some(({ id }) => id === NEGOTIATE))?.id;

const describe = ({
  id,
  inputSchema: input,
  outputSchema: output,
  streams,
  readOnly,
}: CapabilityDescriptor) =>
  [
    id,
    { input, output, ...(streams === true ? { streams } : {}), ...(readOnly === true ? { readOnly } : {}) },
  ] as const;
