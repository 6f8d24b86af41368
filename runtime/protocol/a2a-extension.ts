import { z } from 'zod';
import { AssignmentNote } from './assignment-note.ts';
import { Budget, Cost } from './budget.ts';
import { PathHop } from './envelope.ts';
import { ERROR_CODES } from './errors.ts';
import { Milliseconds } from './milliseconds.ts';
import type { Artifact } from './task.ts';
import { TaskProposalPayload } from './task-proposal.ts';

/**
 * The extension of A2A by which two systems of Orrery work for each other under one deadline, one budget and one delegation
 * path. What it adds stands in metadata under this key; docs/a2a-extension.md says what it means.
 */
export const DELEGATION_URI = 'urn:orrery:a2a:ext:delegation:1';

/** More hops than any system allows; a path that is longer is none. */
const MAX_PATH = 64;
const Name = z.string().min(1).max(1_024);

/**
 * The name of a system: what its agents are called by elsewhere is `<node>/<agent>`.
 */
export const NodeId = z
  .string()
  .min(1)
  .max(128)
  .regex(/^[^/\s\p{Cc}]+$/u, 'a name without white space and "/"');

/**
 * What a client says of the work that its message asks for, in the message's metadata.
 *
 * - `deadlineMs` for how long anybody waits for it, from when the message arrives.
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
 * What a server says of it, in the metadata of its status messages, or of its task's.
 *
 * - `spent`    on it so far, in all.
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
 * What a card says of the system behind it, as the extension's `params`.
 *
 * - `node`       its name.
 * - `idempotent` a message id that it has taken from a caller it takes no second time, and answers with the same task.
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
 * What one system says to another one's negotiator, as the arguments of `NEGOTIATE`.
 *
 * - `propose` asks an agent there. The same `proposalId` again asks nobody: it is answered by what has become of it.
 * - `renew`   the agent still has it: for another `leaseMs`.
 * - `release` it has it no more, or is asked no more.
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
 * What it answers.
 *
 * - `accept`    the agent takes it on, and has it for the lease from when this was asked.
 * - `reject`    it does not, or has it no more; `reason` is a code, such as NOT_CAPABLE.
 * - `open`      it has not said anything yet: it is asked again by the same `propose`.
 * - `timed-out` it has not said anything within the deadline.
 * - `held`      it still has it.
 * - `released`  it has it no more, as was wanted.
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

/** Metadata that says this, for a message. */
export const delegationMetadata = (
  said: DelegationOrder | DelegationReport,
): { readonly [DELEGATION_URI]: z.core.util.JSONType } => ({
  [DELEGATION_URI]: said as z.core.util.JSONType,
});

/** The report in a status message's metadata; undefined when there is none, or none that can be understood. */
export function reportIn(
  metadata: Readonly<Record<string, unknown>> | undefined,
): DelegationReport | undefined {
  const parsed = DelegationReport.safeParse(metadata?.[DELEGATION_URI]);
  return parsed.success ? parsed.data : undefined;
}

const PARTIAL = { partial: true } as const;

/** Metadata of an artifact that is shown for the case that nothing else comes of the work: it is no result. */
export const partialMetadata = (): { readonly [DELEGATION_URI]: z.core.util.JSONType } => ({
  [DELEGATION_URI]: PARTIAL,
});

/** The artifact is no result. */
export const isPartialArtifact = ({ metadata }: Pick<Artifact, 'metadata'>): boolean =>
  (metadata?.[DELEGATION_URI] as { partial?: unknown } | undefined)?.partial === true;
