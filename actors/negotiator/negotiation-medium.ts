import type { A2AEnvelope } from '../../runtime/protocol/envelope.ts';
import type { ErrorCode } from '../../runtime/protocol/errors.ts';
import type { Verdict } from '../../runtime/protocol/policy.ts';
import type { Taint } from '../../runtime/protocol/taint.ts';
import type { Behalf, Delegation, DelegationRecord, Outgoing, Sent } from '../../runtime/public.ts';

/**
 * What an agent is doing while it proposes: whatever it sends belongs to the same conversation, has no more time, and is
 * withdrawn when the work is cancelled.
 *
 * - `origin` what the medium needs to have envelopes inherit from it.
 */
export interface ProposalCause {
  readonly correlationId: string | undefined;
  readonly deadlineAtMs: number | undefined;
  readonly signal: AbortSignal | undefined;
  readonly origin: unknown;
}

/**
 * How a negotiator reaches others: in the name of one agent, under the rules that hold for it.
 *
 * - `open`         resolves when the agent can be answered; called before anything is proposed. @default it can
 * - `whoOffers`    every other agent that it may see and that has all these capabilities, in registration order.
 * - `judge`        why the rules would refuse a message; nothing is sent.
 * - `send`         never rejects: a refusal is in the result.
 * - `listen`       one listener for the envelopes that come to the agent; returns what ends that.
 * - `holdGrant`    the agent was given `peer`'s proposal in a former life, and may answer it until then, Unix milliseconds.
 * - `delegates`    what the work passes on to what is sent later because of it. @default nothing is passed on
 * - `delegatesAgain` the same, of what a former life has written down.
 * - `behalfOf`     on whose behalf the work is done; without one what has just come in. @default nobody's
 * - `endGrant`     the agent has no more to answer to `peer`'s envelope.
 * - `capabilities` those on the agent's card.
 * - `mailbox`      envelopes that wait for the agent, and how many may.
 * - `taint`        where what the agent has in it came from outside. @default nothing did
 * - `takeIn`       hears where what is read of a proposal came from outside, before it is.
 */
export interface NegotiationMedium {
  readonly capabilities: readonly string[];
  readonly mailbox: { readonly waiting: number; readonly capacity: number };
  readonly taint?: Taint | undefined;
  takeIn?(taint: Taint, cause?: ProposalCause): void;
  open?(): Promise<void>;
  whoOffers(capabilities: readonly string[]): readonly string[];
  judge(message: Outgoing): Verdict | undefined;
  send(message: Outgoing, cause?: ProposalCause): Promise<Sent>;
  listen(listener: (envelope: A2AEnvelope) => void): () => void;
  holdGrant?(envelopeId: string, peer: string, untilMs: number): void;
  delegates?(cause: ProposalCause): Delegation;
  delegatesAgain?(record: DelegationRecord): Delegation;
  behalfOf?(cause?: ProposalCause): Behalf;
  endGrant(envelopeId: string, peer: string): void;
}

/** Says whether the same message may pass a little later: then it counts as lost, not as refused. */
export const mayPassLater = (code: ErrorCode | undefined): boolean =>
  code === 'MAILBOX_FULL' || code === 'NOT_HERE';
