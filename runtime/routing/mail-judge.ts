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

/** How an envelope comes to its recipient: to all at once, as an ask, as an answer that was let pass already. */
export interface MailManner {
  readonly isBroadcast: boolean;
  readonly expectsReply: boolean;
  readonly wasGranted?: boolean;
}

/** Why an envelope goes to nobody: the refusal, and whom it would have been for. */
export class Unrouted {
  readonly verdict: Verdict;
  readonly row: AgentRow | undefined;

  constructor(verdict: Verdict, row?: AgentRow) {
    this.verdict = verdict;
    this.row = row;
  }
}

/**
 * - `agentStatus` whether an agent can take mail.
 * - `reachable` of a router without threads, whose agents have no slots: those that it can reach, of the ones that offer a
 *               capability. All count as hosted then. @default agents are in slots
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
 * Routes and judges mail by one table and its policies, and keeps who may answer whom: of a thread, or of a router without
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

  /** Says whether some policy is another one under this configuration. */
  configure(config: RoutingConfig): boolean {
    const before = this.#policies;
    this.#policies = before.map((policy) => policy.withConfig?.(config) ?? policy);
    // Who is seen by whom is another matter now.
    this.#table.touch();
    return this.#policies.some((policy, index) => policy !== before[index]);
  }

  /** Whoever sends under this id, if the system does or somebody is registered. */
  registeredParty(id: string): Party | undefined {
    return isSystemId(id) ? systemParty(id) : this.#table.get(id)?.party;
  }

  /** Whoever sends under this id; one that is unknown is of tier 3 and in no sandbox. */
  partyOf(id: string): Party {
    return this.registeredParty(id) ?? { id, tier: 3, sandboxId: undefined, isSystem: false };
  }

  /** Whom `mail` goes to: the agent of this id, or one with the capability. `nowMs`: Unix milliseconds. */
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
   * An agent that nobody hosts is AGENT_NOT_FOUND, for those whom the rules would let write to it.
   */
  judge(sender: Party, row: AgentRow, mail: Mail, manner: MailManner, nowMs: number): Verdict | undefined {
    const channel = mail.extras?.channel;
    const isOfItself = channel !== undefined && channel.act !== 'open' && channel.act !== 'data';
    // What the runtime tells of a channel that was let open carries nothing of an agent: an end that does not hear that
    // somebody listens, or that it is over, waits for good.
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
   * Says whether the rules for tiers do not hold for it: whoever it answers has given leave to, by what was sent before or by
   * the channel; or it is a message of a shared document, whose sender has joined.
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
   * Of the permitted agents with the capability that somebody hosts, the first that can take mail; else the first that is
   * expected to again; else the first. Where none is permitted the first refusal, and whom it would have been; where cards
   * alone say that they offer it, CAPABILITY_NOT_FOUND.
   */
  #routeCapability(sender: Party, mail: Mail, manner: MailManner, nowMs: number): AgentRow | Unrouted {
    let refused: Unrouted | undefined;
    let best: { row: AgentRow; readiness: Readiness } | undefined;
    const offering = this.#table.withCapability(mail.recipient);
    for (const row of this.#reachable?.(offering) ?? offering) {
      if (!this.#isHosted(row)) continue;
      const verdict = this.judge(sender, row, mail, manner, nowMs);
      if (verdict !== undefined) {
        refused ??= new Unrouted(verdict, row);
        continue;
      }
      const readiness = this.#agentStatus.readinessOf(row.slot);
      if (readiness === READINESS.live) return row;
      if (best === undefined || readiness > best.readiness) best = { row, readiness };
    }
    return best?.row ?? refused ?? new Unrouted(verdictOf(capabilityNotFound(mail.recipient)));
  }

  /** `holder` has `mail` in hand and may answer it. */
  holdGrant(mail: Mail, holder: string): void {
    const { id, sender, payload } = mail;
    const { tier } = this.partyOf(sender);
    const metadata = mail.deadlineAtMs > 0 ? { tier, deadlineAtMs: mail.deadlineAtMs } : { tier };
    this.#grants.hold({ id, sender, type: messageTypeOf(mail), payload, metadata }, holder);
  }

  /** `holder` was given `peer`'s proposal in a former thread or process, and may answer it until then, Unix milliseconds. */
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

  /** Says whether somebody hosts an agent, and the sandbox lets whoever has this id see it: it may write to it, or ask it. */
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

  /** `holder` has no more to answer to `peer`'s envelope. */
  endGrant(envelopeId: string, holder: string, peer: string): void {
    this.#grants.end(envelopeId, holder, peer);
  }

  /** `mail` went to `recipient`; if it answered something, the grant for that is used. */
  useGrant(mail: Mail, sender: string, recipient: string): void {
    const inReplyTo = mail.extras?.inReplyTo;
    if (inReplyTo !== undefined)
      this.#grants.use({ inReplyTo, sender, recipient, type: messageTypeOf(mail) });
  }
}

const NO_PATH: readonly PathHop[] = [];
const NOTHING: readonly string[] = [];

/** A proposal may carry its justification in its payload. */
function justificationIn(payload: unknown): string | undefined {
  const { escalationJustification } = (payload ?? {}) as { escalationJustification?: unknown };
  return typeof escalationJustification === 'string' ? escalationJustification : undefined;
}

type Latency = Pick<RoutingResult, 'latencyMs'>;

/** What is told of an envelope that one agent has accepted. */
export const deliveredResult = (row: AgentRow, latencyMs: number): RoutingResult =>
  Number.isNaN(latencyMs)
    ? { delivered: true, path: routingPathTo(row), targetAgentId: row.id }
    : { delivered: true, path: routingPathTo(row), targetAgentId: row.id, latencyMs };

/**
 * What is told of an envelope that reached nobody: `to` is whom it was meant for, or its recipient where nobody is known by
 * that.
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
