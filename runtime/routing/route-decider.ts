import type { A2AEnvelope, PathHop } from '../protocol/envelope.ts';
import { agentNotFound, capabilityNotFound } from '../protocol/errors.ts';
import { capabilityOf } from '../protocol/inheritance.ts';
import { proposedIn } from '../protocol/task-proposal.ts';
import {
  isSystemId,
  type JudgePolicy,
  type JudgeRequest,
  type Party,
  systemParty,
  type Verdict,
} from '../protocol/policy.ts';
import type { Clock } from '../protocol/seams.ts';
import type { GrantBook } from './grants.ts';
import { judge } from './judge.ts';
import { addressKind, firstPermitted, partition } from './resolve.ts';
import type { RoutingTable } from './routing-table.ts';
import type { AgentRow } from '../protocol/agent-row.ts';

/** What is judged of an envelope; the payload only where a proposal carries its justification in it. */
export type JudgedEnvelope = Pick<
  A2AEnvelope,
  'recipient' | 'type' | 'schemaVersion' | 'payload' | 'metadata'
>;

/**
 * Where an envelope goes.
 *
 * - `one`       to this agent.
 * - `everybody` to `permitted`; the others are out of reach.
 * - `refused`   a policy said no; `row` is whom it was meant for.
 * - `unknown`   nobody here is meant: another node may know the agent or capability.
 */
export type Route =
  | { readonly kind: 'one'; readonly row: AgentRow }
  | {
      readonly kind: 'everybody';
      readonly permitted: readonly AgentRow[];
      readonly refused: readonly { readonly row: AgentRow; readonly verdict: Verdict }[];
    }
  | { readonly kind: 'refused'; readonly row: AgentRow; readonly verdict: Verdict }
  | { readonly kind: 'unknown'; readonly verdict: Verdict };

/**
 * - `grants`            who may answer whom against the tier rules. @default nobody
 * - `broadcastToSender` whether a broadcast reaches its sender too. @default true
 * - `isReachable`       whether somebody takes what is for this agent. @default everybody is
 */
export interface RouteDeciderOptions {
  readonly grants?: GrantBook;
  readonly broadcastToSender?: boolean;
  readonly isReachable?: (row: AgentRow) => boolean;
}

const NO_PATH: readonly PathHop[] = [];
const NOBODY = systemParty('system/nobody');

/** Resolves and judges: the one implementation of routing, for a standalone router and for every thread. */
export class RouteDecider {
  readonly #table: RoutingTable;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #grants: GrantBook | undefined;
  readonly #broadcastToSender: boolean;
  readonly #isReachable: ((row: AgentRow) => boolean) | undefined;
  #policies: readonly JudgePolicy[];
  /** Filled in again for every envelope: by `describe`, or field by field by whoever has no envelope object. */
  readonly request: JudgeRequest = {
    sender: NOBODY,
    recipient: NOBODY,
    type: 'notification',
    isBroadcast: false,
    isGranted: false,
    expectsReply: false,
    justification: undefined,
    capability: undefined,
    proposes: [],
    schemaVersion: 0,
    deadlineAtMs: undefined,
    nowMs: 0,
    path: NO_PATH,
    budget: undefined,
    isTool: false,
  };

  constructor(
    table: RoutingTable,
    policies: readonly JudgePolicy[],
    clock: Pick<Clock, 'now'>,
    { grants, broadcastToSender = true, isReachable }: RouteDeciderOptions = {},
  ) {
    this.#table = table;
    this.#policies = policies;
    this.#clock = clock;
    this.#grants = grants;
    this.#broadcastToSender = broadcastToSender;
    this.#isReachable = isReachable;
  }

  /** The rules from now on. */
  get policies(): readonly JudgePolicy[] {
    return this.#policies;
  }

  set policies(policies: readonly JudgePolicy[]) {
    this.#policies = policies;
  }

  /** Whoever sends under this id: a registered agent or the system. */
  partyOf(id: string): Party | undefined {
    return this.#table.get(id)?.party ?? (isSystemId(id) ? systemParty(id) : undefined);
  }

  /**
   * Where the envelope goes; of several agents with a capability the first permitted, in registration order, and one that
   * nobody takes anything for only where that is all there is.
   */
  decide(sender: Party, envelope: JudgedEnvelope, expectsReply = false): Route {
    const { recipient } = envelope;
    this.describe(sender, envelope, expectsReply);
    switch (addressKind(envelope)) {
      case 'agent': {
        const row = this.#table.get(recipient);
        if (row === undefined) return unknown(agentNotFound(recipient));
        const verdict = this.judgeDescribed(row.party, envelope.metadata?.inReplyTo);
        return verdict === undefined ? { kind: 'one', row } : { kind: 'refused', row, verdict };
      }
      case 'capability': {
        const inReplyTo = envelope.metadata?.inReplyTo;
        const found = firstPermitted(this.#offering(recipient), (row) =>
          this.judgeDescribed(row.party, inReplyTo),
        );
        if (found === undefined) return unknown(capabilityNotFound(recipient));
        const { row, verdict } = found;
        return verdict === undefined ? { kind: 'one', row } : { kind: 'refused', row, verdict };
      }
      case 'broadcast':
        return {
          kind: 'everybody',
          ...partition(this.#audience(sender), (row) => this.judgeDescribed(row.party)),
        };
    }
  }

  /** The refusal of this envelope to this agent, or undefined when it may be delivered. Allocates nothing then. */
  judgeRow(
    sender: Party,
    row: AgentRow,
    envelope: JudgedEnvelope,
    expectsReply = false,
  ): Verdict | undefined {
    this.describe(sender, envelope, expectsReply);
    return this.judgeDescribed(row.party, envelope.metadata?.inReplyTo);
  }

  /** Fills in `request` but for the recipient. */
  describe(sender: Party, envelope: JudgedEnvelope, expectsReply: boolean): void {
    const { request } = this;
    const { metadata } = envelope;
    request.sender = sender;
    request.type = envelope.type;
    request.schemaVersion = envelope.schemaVersion;
    request.isBroadcast = addressKind(envelope) === 'broadcast';
    request.expectsReply = expectsReply;
    request.justification = justificationOf(envelope);
    request.capability = capabilityOf(envelope);
    request.proposes = proposedIn(envelope.type, envelope.payload);
    request.deadlineAtMs = metadata?.deadlineAtMs;
    request.path = metadata?.path ?? NO_PATH;
    request.budget = metadata?.budget;
    request.isTool = false;
    request.nowMs = this.#clock.now();
  }

  /**
   * Judges what `request` describes on its way to one recipient; `inReplyTo` is the envelope that it answers.
   * `wasGranted` says that the sender's thread, which holds the grants, has let it pass as an answer.
   */
  judgeDescribed(recipient: Party, inReplyTo?: string, wasGranted = false): Verdict | undefined {
    const { request } = this;
    request.recipient = recipient;
    request.isGranted = inReplyTo !== undefined && (wasGranted || this.#isGranted(inReplyTo));
    return judge(this.#policies, request);
  }

  #isGranted(inReplyTo: string): boolean {
    const { sender, recipient, type, isBroadcast } = this.request;
    if (isBroadcast || this.#grants === undefined) return false;
    return this.#grants.permits({ inReplyTo, sender: sender.id, recipient: recipient.id, type });
  }

  #offering(capabilityId: string): readonly AgentRow[] {
    const rows = this.#table.withCapability(capabilityId);
    const reachable = this.#isReachable === undefined ? rows : rows.filter(this.#isReachable);
    return reachable.length > 0 ? reachable : rows;
  }

  *#audience(sender: Party): Iterable<AgentRow> {
    for (const row of this.#table.rows()) if (this.#broadcastToSender || row.id !== sender.id) yield row;
  }
}

const unknown = ({ code, message }: { code: Verdict['code']; message: string }): Route => ({
  kind: 'unknown',
  verdict: { code, reason: message },
});

function justificationOf({ type, payload, metadata }: JudgedEnvelope): string | undefined {
  if (metadata?.escalationJustification !== undefined) return metadata.escalationJustification;
  if (type !== 'task-proposal') return undefined;
  const { escalationJustification } = (payload ?? {}) as { escalationJustification?: unknown };
  return typeof escalationJustification === 'string' ? escalationJustification : undefined;
}
