import { type Mail, type MailExtras, messageTypeOf } from '../mailbox/mail.ts';
import { type PathHop, SCHEMA_VERSION } from '../protocol/envelope.ts';
import { agentNotFound, capabilityNotFound, notHosted } from '../protocol/errors.ts';
import {
  isSystemId,
  type JudgePolicy,
  type JudgeRequest,
  type Party,
  systemParty,
  type Verdict,
  verdictOf,
  judge,
} from '../protocol/policy.ts';
import type { RoutingConfig } from '../protocol/routing-config.ts';
import type { RoutingResult } from '../protocol/routing-result.ts';
import type { Clock } from '../protocol/seams.ts';
import { proposedIn } from '../protocol/task-proposal.ts';
import { type AgentStatusMemory, READINESS, type Readiness } from './agent-status-memory.ts';
import type { Grants } from './grants.ts';
import type { RoutingTable } from './routing-table.ts';
import { type AgentRow, routingPathTo } from '../protocol/agent-row.ts';

/** How an envelope is sent: as a broadcast, as an ask, as an answer that was permitted already. */
export interface MailManner {
  readonly isBroadcast: boolean;
  readonly expectsReply: boolean;
  readonly wasGranted?: boolean;
}

/** Why an envelope goes to nobody: the refusal, and the agent that it was for, if one is known. */
export class Unrouted {
  readonly verdict: Verdict;
  readonly row: AgentRow | undefined;

  constructor(verdict: Verdict, row?: AgentRow) {
    this.verdict = verdict;
    this.row = row;
  }
}

/**
 * - `agentStatus` says whether an agent can take mail.
 * - `reachable`   for a router without threads, whose agents have no slots: picks those that it can reach among the agents with
 *                 a capability. All agents count as hosted then. @default agents are in slots
 */
export interface MailJudgeDeps {
  readonly table: RoutingTable;
  readonly policies: readonly JudgePolicy[];
  readonly grants: Grants;
  readonly agentStatus: Pick<AgentStatusMemory, 'readinessOf'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly reachable?: (offering: readonly AgentRow[]) => readonly AgentRow[];
}

/**
 * Routes and judges mail by one table and its policies, and keeps the grants. A thread has one, and so has a router without
 * threads.
 */
export class MailJudge {
  readonly #table: RoutingTable;
  readonly #grants: Grants;
  readonly #agentStatus: Pick<AgentStatusMemory, 'readinessOf'>;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #reachable: MailJudgeDeps['reachable'];
  #policies: readonly JudgePolicy[];

  constructor({ table, policies, grants, agentStatus, clock, reachable }: MailJudgeDeps) {
    this.#table = table;
    this.#clock = clock;
    this.#policies = policies;
    this.#grants = grants;
    this.#agentStatus = agentStatus;
    this.#reachable = reachable;
  }

  /** Configures the policies anew; says whether that changed any. */
  configure(config: RoutingConfig): boolean {
    const before = this.#policies;
    this.#policies = before.map((policy) => policy.withConfig?.(config) ?? policy);
    // Who sees whom may be different now.
    this.#table.touch();
    return this.#policies.some((policy, index) => policy !== before[index]);
  }

  /** The party with this id; undefined if it is neither the system's nor registered. */
  registeredParty(id: string): Party | undefined {
    return isSystemId(id) ? systemParty(id) : this.#table.get(id)?.party;
  }

  /** The party with this id. An unknown one is of tier 3 and in no sandbox. */
  partyOf(id: string): Party {
    return this.registeredParty(id) ?? { id, tier: 3, sandboxId: undefined, isSystem: false };
  }

  /** The agent that `mail` goes to: the one with this id, or one with the capability. `nowMs`: Unix milliseconds. */
  route(sender: Party, mail: Mail, manner: MailManner, nowMs: number): AgentRow | Unrouted {
    if (mail.extras?.routingHint === 'capability') return this.#routeCapability(sender, mail, manner, nowMs);
    const row = this.#table.get(mail.recipient);
    if (row === undefined) return new Unrouted(verdictOf(agentNotFound(mail.recipient)));
    const verdict = this.judge(sender, row, mail, manner, nowMs);
    return verdict === undefined ? row : new Unrouted(verdict, row);
  }

  /**
   * The refusal of `mail` from `sender` to one agent; undefined when it may be delivered. `nowMs`: Unix milliseconds.
   *
   * For an agent that nobody hosts, those who may write to it get AGENT_NOT_FOUND.
   */
  judge(sender: Party, row: AgentRow, mail: Mail, manner: MailManner, nowMs: number): Verdict | undefined {
    const channel = mail.extras?.channel;
    const isOfItself = channel !== undefined && channel.act !== 'open' && channel.act !== 'data';
    // The runtime's own messages on a permitted channel carry nothing of an agent. Without them an end would not hear that
    // somebody listens or that the channel is over, and would wait for ever.
    const verdict = isOfItself
      ? undefined
      : judge(this.#policies, this.#requestOf(sender, row.party, mail, manner, nowMs));
    return verdict ?? (this.#isHosted(row) ? undefined : verdictOf(notHosted(row.id)));
  }

  #isHosted({ slot }: AgentRow): boolean {
    return slot >= 0 || this.#reachable !== undefined;
  }

  #requestOf(sender: Party, recipient: Party, mail: Mail, manner: MailManner, nowMs: number): JudgeRequest {
    const { extras, deadlineAtMs, payload } = mail;
    const type = messageTypeOf(mail);
    const isProposal = type === 'task-proposal';
    return {
      sender,
      recipient,
      type,
      isBroadcast: manner.isBroadcast,
      isGranted: extras !== undefined && this.#isGranted(sender, recipient, mail, manner),
      expectsReply: manner.expectsReply,
      justification: extras?.justification ?? (isProposal ? justificationIn(payload) : undefined),
      capability: mail.capability,
      proposes: isProposal ? proposedIn(type, payload) : NOTHING,
      schemaVersion: SCHEMA_VERSION,
      deadlineAtMs: deadlineAtMs > 0 ? deadlineAtMs : undefined,
      nowMs,
      path: mail.path ?? NO_PATH,
      budget: extras?.budget,
      isTool: extras?.tool === true,
    };
  }

  /**
   * Says whether `mail` is exempt from the tier rules. An answer is, if its recipient has allowed it by an envelope or a channel.
   * So is a message of a shared document, whose sender has joined.
   */
  #isGranted(sender: Party, recipient: Party, mail: Mail, manner: MailManner): boolean {
    const { channel, frame, inReplyTo } = mail.extras as MailExtras;
    const type = messageTypeOf(mail);
    if (channel?.granted === true) return true;
    if (inReplyTo === undefined) return frame === true && type === 'stream-data';
    if (manner.wasGranted === true) return true;
    return (
      !manner.isBroadcast &&
      this.#grants.permits({ inReplyTo, sender: sender.id, recipient: recipient.id, type })
    );
  }

  /**
   * Picks among the hosted and permitted agents with the capability: the first that is `live`, else the first that is
   * `awaited`, and only then one of another node; if all have ended, the first. If none is permitted, returns the first
   * refusal and its agent. If nobody hosts any, CAPABILITY_NOT_FOUND.
   */
  #routeCapability(sender: Party, mail: Mail, manner: MailManner, nowMs: number): AgentRow | Unrouted {
    let refused: Unrouted | undefined;
    let best: { row: AgentRow; rank: number } | undefined;
    const offering = this.#table.withCapability(mail.recipient);
    for (const row of this.#reachable?.(offering) ?? offering) {
      if (!this.#isHosted(row)) continue;
      const verdict = this.judge(sender, row, mail, manner, nowMs);
      if (verdict !== undefined) {
        refused ??= new Unrouted(verdict, row);
        continue;
      }
      const rank = rankOf(this.#agentStatus.readinessOf(row.slot), row);
      if (rank === BEST) return row;
      if (best === undefined || rank > best.rank) best = { row, rank };
    }
    return best?.row ?? refused ?? new Unrouted(verdictOf(capabilityNotFound(mail.recipient)));
  }

  /** Grants `holder`, who has `mail` in hand, to answer it. */
  holdGrant(mail: Mail, holder: string): void {
    const { id, sender, payload } = mail;
    const { tier } = this.partyOf(sender);
    const metadata = mail.deadlineAtMs > 0 ? { tier, deadlineAtMs: mail.deadlineAtMs } : { tier };
    this.#grants.hold({ id, sender, type: messageTypeOf(mail), payload, metadata }, holder);
  }

  /** Grants `holder` to answer a proposal of `peer` that a former thread or process got. `untilMs`: Unix milliseconds. */
  holdGrantAgain(envelopeId: string, holder: string, peer: string, untilMs: number): void {
    const metadata = { tier: this.partyOf(peer).tier, deadlineAtMs: untilMs };
    const proposal = {
      id: envelopeId,
      sender: peer,
      type: 'task-proposal',
      payload: undefined,
      metadata,
    } as const;
    this.#grants.hold(proposal, holder);
  }

  /** Says whether the agent is hosted, and `readerId` may see it: the sandbox lets the reader write to it, or ask it. */
  isSeen(readerId: string, row: AgentRow, expectsReply = false): boolean {
    if (!this.#isHosted(row)) return false;
    const request: JudgeRequest = {
      sender: this.partyOf(readerId),
      recipient: row.party,
      type: 'notification',
      isBroadcast: false,
      isGranted: false,
      expectsReply,
      justification: undefined,
      capability: undefined,
      proposes: NOTHING,
      schemaVersion: SCHEMA_VERSION,
      deadlineAtMs: undefined,
      nowMs: this.#clock.now(),
      path: NO_PATH,
      budget: undefined,
      isTool: false,
    };
    return judge(this.#policies, request)?.code !== 'SANDBOX_VIOLATION';
  }

  /** Ends the grant of `holder` for `peer`'s envelope. */
  endGrant(envelopeId: string, holder: string, peer: string): void {
    this.#grants.end(envelopeId, holder, peer);
  }

  /** Uses the grant under which `mail` went to `recipient`, if it answered something. */
  useGrant(mail: Mail, sender: string, recipient: string): void {
    const inReplyTo = mail.extras?.inReplyTo;
    if (inReplyTo !== undefined)
      this.#grants.use({ inReplyTo, sender, recipient, type: messageTypeOf(mail) });
  }
}

/** How soon an agent can take mail; one of this node goes before those of others. */
function rankOf(readiness: Readiness, { profile: { clearance } }: AgentRow): number {
  return readiness === READINESS.ended || clearance !== undefined ? readiness : readiness + READINESS.live;
}

const BEST = 2 * READINESS.live;

const NO_PATH: readonly PathHop[] = [];
const NOTHING: readonly string[] = [];

/** The justification in a proposal's payload, if there is one. */
function justificationIn(payload: unknown): string | undefined {
  const { escalationJustification } = (payload ?? {}) as { escalationJustification?: unknown };
  return typeof escalationJustification === 'string' ? escalationJustification : undefined;
}

type Latency = Pick<RoutingResult, 'latencyMs'>;

/** The result of sending an envelope that one agent has accepted. */
export const deliveredResult = (row: AgentRow, latencyMs: number): RoutingResult =>
  Number.isNaN(latencyMs)
    ? { delivered: true, path: routingPathTo(row), targetAgentId: row.id }
    : { delivered: true, path: routingPathTo(row), targetAgentId: row.id, latencyMs };

/**
 * The result of sending an envelope that reached nobody. `to` is the agent that it was for, or its recipient if no agent is
 * known by that.
 */
export const refusedResult = (
  to: AgentRow | string,
  { code, reason, retryAfterMs }: Verdict,
  latency: Latency = {},
): RoutingResult => ({
  delivered: false,
  path: typeof to === 'string' ? 'local' : routingPathTo(to),
  targetAgentId: typeof to === 'string' ? to : to.id,
  ...latency,
  error: reason,
  errorCode: code,
  ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
});
