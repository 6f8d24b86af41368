import { z } from 'zod';
import { AssignmentNote } from './assignment-note.ts';
import { Budget, Cost } from './budget.ts';
import { PathHop } from './envelope.ts';
import { ERROR_CODES } from './errors.ts';
import { Milliseconds } from './milliseconds.ts';
import type { Artifact } from './task.ts';
import { TaskProposalPayload } from './task-proposal.ts';

/**
 * URI of the A2A extension by which two systems of Orrery share one deadline, one budget and one delegation path. It is also the
 * key of its metadata, which docs/a2a-extension.md describes.
 */
export const DELEGATION_URI = 'urn:orrery:a2a:ext:delegation:1';

/** The most hops of a path: more than any system allows. */
const MAX_PATH = 64;
const Name = z.string().min(1).max(1_024);

/**
 * The name of a system. Elsewhere its agents are called `<node>/<agent>`.
 */
export const NodeId = z
  .string()
  .min(1)
  .max(128)
  .regex(/^[^/\s\p{Cc}]+$/u, 'a name without white space and "/"');

/**
 * How a client delegates work: in the metadata of the message that asks for it.
 *
 * - `deadlineMs` how long the client waits, from when the message arrives.
 * - `budget`     what may be spent on it; `hops` are those left to whoever gets it.
 * - `path`       the requests above this one, oldest first; agents by the names that they have everywhere.
 * - `assignment` of the swarm that hands the work over.
 * - `resumeFrom` what an attempt elsewhere has kept of the same work.
 */
export const DelegationOrder = z.object({
  deadlineMs: Milliseconds.optional(),
  budget: Budget.optional(),
  path: z
    .array(PathHop.extend({ agent: Name, capability: Name, envelopeId: Name }))
    .max(MAX_PATH)
    .optional(),
  assignment: AssignmentNote.optional(),
  resumeFrom: z.json().optional(),
});
export type DelegationOrder = z.infer<typeof DelegationOrder>;

/**
 * How a server reports on the work: in the metadata of its status messages, or of its task.
 *
 * - `spent`    what was spent on it so far, in all.
 * - `progress` how far it is: `fraction` in [0, 1].
 * - `partial`  what a checkpoint has kept.
 * - `error`    why it was not done, in a code of `ERROR_CODES`.
 */
export const DelegationReport = z.object({
  spent: Cost.optional(),
  progress: z.object({ fraction: z.number().min(0).max(1), note: z.string().optional() }).optional(),
  partial: z.json().optional(),
  error: z
    .object({
      code: z.enum(ERROR_CODES),
      message: z.string(),
      details: z.record(z.string(), z.json()).optional(),
    })
    .optional(),
});
export type DelegationReport = z.infer<typeof DelegationReport>;

/**
 * What a card says of its system, as the extension's `params`.
 *
 * - `node`       the name of the system.
 * - `idempotent` a message that a caller sends twice under one id is taken once, and answered with the same task.
 * - `negotiator` where its negotiating agent is found, an absolute URL; absent: nobody negotiates.
 * - `skills`     the JSON Schemas of what its skills take and give; `streams`: one value after the other.
 */
export const DelegationParams = z.object({
  node: NodeId,
  idempotent: z.boolean().default(false),
  negotiator: z.url().optional(),
  skills: z
    .record(
      z.string(),
      z.object({
        input: z.unknown().optional(),
        output: z.unknown().optional(),
        streams: z.boolean().optional(),
        readOnly: z.boolean().optional(),
      }),
    )
    .optional(),
});
export type DelegationParams = z.infer<typeof DelegationParams>;

/** The capability that answers `NegotiationRequest`s. */
export const NEGOTIATE = 'orrery.negotiate';

const About = { proposalId: Name };

/**
 * A request of one system to the negotiator of another, as the arguments of `NEGOTIATE`.
 *
 * - `propose` asks an agent there. Sent again with the same `proposalId`, it asks nobody: the answer says what came of it.
 * - `renew`   the agent keeps the task for another `leaseMs`.
 * - `release` the agent has the task no more, or is asked no more.
 */
export const NegotiationRequest = z.discriminatedUnion('kind', [
  TaskProposalPayload.extend({
    ...About,
    kind: z.literal('propose'),
    agent: Name,
    deadlineMs: Milliseconds,
    leaseMs: Milliseconds,
  }),
  z.object({ ...About, kind: z.literal('renew'), epoch: z.int().positive(), leaseMs: Milliseconds }),
  z.object({ ...About, kind: z.literal('release'), reason: Name }),
]);
export type NegotiationRequest = z.infer<typeof NegotiationRequest>;

/**
 * The answer to a `NegotiationRequest`.
 *
 * - `accept`    the agent takes the task on, and has it for the lease, which runs from the request.
 * - `reject`    it does not, or has it no more; `reason` is a code, such as NOT_CAPABLE.
 * - `open`      it has not answered yet. Send the same `propose` again.
 * - `timed-out` it has not answered within the deadline.
 * - `held`      it still has the task.
 * - `released`  it has the task no more, as requested.
 */
export const NegotiationAnswer = z.discriminatedUnion('kind', [
  z.object({
    ...About,
    kind: z.literal('accept'),
    epoch: z.int().positive(),
    estimatedCompletionMs: Milliseconds,
  }),
  z.object({ ...About, kind: z.literal('reject'), reason: Name, alternative: Name.optional() }),
  z.object({ ...About, kind: z.literal('open') }),
  z.object({ ...About, kind: z.literal('timed-out') }),
  z.object({ ...About, kind: z.literal('held'), epoch: z.int().positive() }),
  z.object({ ...About, kind: z.literal('released') }),
]);
export type NegotiationAnswer = z.infer<typeof NegotiationAnswer>;

/** Metadata for a message, with this order or report. */
export const delegationMetadata = (
  said: DelegationOrder | DelegationReport,
): { readonly [DELEGATION_URI]: z.core.util.JSONType } => ({
  [DELEGATION_URI]: said as z.core.util.JSONType,
});

/** The report in a status message's metadata; undefined if there is none, or it is invalid. */
export function reportIn(
  metadata: Readonly<Record<string, unknown>> | undefined,
): DelegationReport | undefined {
  const parsed = DelegationReport.safeParse(metadata?.[DELEGATION_URI]);
  return parsed.success ? parsed.data : undefined;
}

const PARTIAL = { partial: true } as const;

/** Metadata of an artifact that is not the result, but a partial one, in case nothing else comes of the work. */
export const partialMetadata = (): { readonly [DELEGATION_URI]: z.core.util.JSONType } => ({
  [DELEGATION_URI]: PARTIAL,
});

/** Whether the artifact is a partial result. */
export const isPartialArtifact = ({ metadata }: Pick<Artifact, 'metadata'>): boolean =>
  (metadata?.[DELEGATION_URI] as { partial?: unknown } | undefined)?.partial === true;
