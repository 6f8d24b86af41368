import { type A2AEnvelope, BROADCAST, type PathHop } from '../protocol/envelope.ts';
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
import type { Grants } from './grants.ts';
import { judge } from './judge.ts';
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
  readonly grants?: Grants;
  readonly broadcastToSender?: boolean;
  readonly isReachable?: (row: AgentRow) => boolean;
}

const NO_PATH: readonly PathHop[] = [];

/** What an envelope asks of the rules, whomever it goes to. */
type Described = Omit<JudgeRequest, 'recipient' | 'isGranted'>;

/** Resolves and judges the envelopes of a standalone router. */
export class RouteDecider {
  readonly #table: RoutingTable;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #grants: Grants | undefined;
  readonly #broadcastToSender: boolean;
  readonly #isReachable: ((row: AgentRow) => boolean) | undefined;
  #policies: readonly JudgePolicy[];

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
    if (isForCapability(envelope)) {
      const judgeRow = this.#judging(sender, envelope, expectsReply);
      return toFirstPermitted(this.#offering(recipient), judgeRow) ?? unknown(capabilityNotFound(recipient));
    }
    if (recipient === BROADCAST)
      return this.#toEverybody(sender, this.#judging(sender, envelope, expectsReply));
    const row = this.#table.get(recipient);
    if (row === undefined) return unknown(agentNotFound(recipient));
    const verdict = this.judgeRow(sender, row, envelope, expectsReply);
    return verdict === undefined ? { kind: 'one', row } : { kind: 'refused', row, verdict };
  }

  /** The refusal of this envelope to this agent, or undefined when it may be delivered. */
  judgeRow(
    sender: Party,
    row: AgentRow,
    envelope: JudgedEnvelope,
    expectsReply = false,
  ): Verdict | undefined {
    return this.#judging(sender, envelope, expectsReply)(row);
  }

  /** Judges an envelope on its way to whomever. */
  #judging(sender: Party, envelope: JudgedEnvelope, expectsReply: boolean): JudgeRow {
    const described = this.#describe(sender, envelope, expectsReply);
    const inReplyTo = envelope.metadata?.inReplyTo;
    return ({ party: recipient }) => {
      const isGranted =
        inReplyTo !== undefined && !described.isBroadcast && this.#isGranted(inReplyTo, described, recipient);
      return judge(this.#policies, { ...described, recipient, isGranted });
    };
  }

  #describe(sender: Party, envelope: JudgedEnvelope, expectsReply: boolean): Described {
    const { type, schemaVersion, payload, recipient, metadata } = envelope;
    return {
      sender,
      type,
      schemaVersion,
      isBroadcast: recipient === BROADCAST && !isForCapability(envelope),
      expectsReply,
      justification: justificationOf(envelope),
      capability: capabilityOf(envelope),
      proposes: proposedIn(type, payload),
      deadlineAtMs: metadata?.deadlineAtMs,
      path: metadata?.path ?? NO_PATH,
      budget: metadata?.budget,
      isTool: false,
      nowMs: this.#clock.now(),
    };
  }

  #isGranted(inReplyTo: string, { sender, type }: Described, recipient: Party): boolean {
    return this.#grants?.permits({ inReplyTo, sender: sender.id, recipient: recipient.id, type }) === true;
  }

  #toEverybody(sender: Party, judgeRow: JudgeRow): Route {
    const permitted: AgentRow[] = [];
    const refused: { row: AgentRow; verdict: Verdict }[] = [];
    for (const row of this.#table.rows()) {
      if (!this.#broadcastToSender && row.id === sender.id) continue;
      const verdict = judgeRow(row);
      if (verdict === undefined) permitted.push(row);
      else refused.push({ row, verdict });
    }
    return { kind: 'everybody', permitted, refused };
  }

  #offering(capabilityId: string): readonly AgentRow[] {
    const rows = this.#table.withCapability(capabilityId);
    const reachable = this.#isReachable === undefined ? rows : rows.filter(this.#isReachable);
    return reachable.length > 0 ? reachable : rows;
  }
}

/** Says whether the recipient is a capability, which any agent may have. */
export const isForCapability = ({ metadata }: Pick<A2AEnvelope, 'metadata'>): boolean =>
  metadata?.routingHint === 'capability';

/** How a row is judged. */
type JudgeRow = (row: AgentRow) => Verdict | undefined;

/** To the first row that may be written to; when there is none, the refusal of the first; nowhere without rows. */
function toFirstPermitted(rows: readonly AgentRow[], judgeRow: JudgeRow): Route | undefined {
  let first: Route | undefined;
  for (const row of rows) {
    const verdict = judgeRow(row);
    if (verdict === undefined) return { kind: 'one', row };
    first ??= { kind: 'refused', row, verdict };
  }
  return first;
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
