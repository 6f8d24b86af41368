import type { ChannelMark } from '../mailbox/channel-mark.ts';
import { type Mail, messageTypeOf } from '../mailbox/mail.ts';
import { type PathHop, SCHEMA_VERSION } from '../protocol/envelope.ts';
import { capabilityNotFound, notHosted, type OrreryError } from '../protocol/errors.ts';
import { isSystemId, type Party, systemParty, type Verdict } from '../protocol/policy.ts';
import type { RoutingConfig } from '../protocol/routing-config.ts';
import { proposedIn } from '../protocol/task-proposal.ts';
import { type AgentWords, READINESS, type Readiness } from './agent-words.ts';
import type { GrantBook } from './grants.ts';
import type { RouteDecider } from './route-decider.ts';
import type { RoutingTable } from './routing-table.ts';
import type { AgentRow } from '../protocol/agent-row.ts';

/** How an envelope comes to its recipient: to all at once, as an ask, as an answer that was let pass already. */
export interface MailManner {
  readonly isBroadcast: boolean;
  readonly expectsReply: boolean;
  readonly wasGranted?: boolean;
}

/** Judges mail by the table and policies of one thread, and keeps who there may answer whom. */
export class MailJudge {
  readonly #table: RoutingTable;
  readonly #decider: RouteDecider;
  readonly #grants: GrantBook;
  readonly #words: Pick<AgentWords, 'readinessOf'>;

  constructor(
    table: RoutingTable,
    decider: RouteDecider,
    grants: GrantBook,
    words: Pick<AgentWords, 'readinessOf'>,
  ) {
    this.#table = table;
    this.#decider = decider;
    this.#grants = grants;
    this.#words = words;
  }

  configure(config: RoutingConfig): void {
    const { policies } = this.#decider;
    this.#decider.policies = policies.map((policy) => policy.withConfig?.(config) ?? policy);
    // Who is seen by whom is another matter now.
    this.#table.touch();
  }

  /** Whoever sends under this id; one that is unknown has the least standing. */
  partyOf(id: string): Party {
    if (isSystemId(id)) return systemParty(id);
    return this.#table.get(id)?.party ?? { id, tier: 3, sandboxId: undefined, isSystem: false };
  }

  /**
   * The refusal of `mail` from `sender` to one agent; undefined when it may be delivered. `nowMs`: Unix milliseconds.
   *
   * An agent that nobody hosts is AGENT_NOT_FOUND, for those whom the rules would let write to it.
   */
  judge(sender: Party, row: AgentRow, mail: Mail, manner: MailManner, nowMs: number): Verdict | undefined {
    const { request } = this.#decider;
    const { extras, deadlineAtMs } = mail;
    const channel = extras?.channel;
    if (channel !== undefined && isOfItself(channel)) return this.#unhosted(row);
    request.sender = sender;
    request.type = messageTypeOf(mail);
    request.schemaVersion = SCHEMA_VERSION;
    request.isBroadcast = manner.isBroadcast;
    request.expectsReply = manner.expectsReply;
    request.justification = extras?.justification ?? justificationIn(mail);
    request.capability = mail.capability;
    request.proposes = proposedIn(request.type, mail.payload);
    request.deadlineAtMs = deadlineAtMs > 0 ? deadlineAtMs : undefined;
    request.path = mail.path ?? NO_PATH;
    request.budget = extras?.budget;
    request.isTool = extras?.tool === true;
    request.nowMs = nowMs;
    if (extras?.frame === true && extras.inReplyTo === undefined && request.type === 'stream-data')
      return this.#decider.judgeDescribed(row.party, FRAME, true);
    // Who opened a channel has given leave to answer over it.
    const verdict =
      channel?.granted === true
        ? this.#decider.judgeDescribed(row.party, channel.id, true)
        : this.#decider.judgeDescribed(row.party, extras?.inReplyTo, manner.wasGranted);
    return verdict ?? this.#unhosted(row);
  }

  #unhosted(row: AgentRow): Verdict | undefined {
    return row.slot < 0 ? verdictOf(notHosted(row.id)) : undefined;
  }

  /**
   * Of the permitted agents with the capability that somebody hosts, the first that can take mail; else the first that is
   * expected to again; else the first. Where none is permitted the first refusal, and whom it would have been; where cards
   * alone say that they offer it, CAPABILITY_NOT_FOUND.
   */
  resolveCapability(
    sender: Party,
    mail: Mail,
    manner: MailManner,
    nowMs: number,
  ): { row?: AgentRow; verdict?: Verdict; meant?: AgentRow } {
    let first: { verdict: Verdict; meant: AgentRow } | undefined;
    let best: { row: AgentRow; readiness: Readiness } | undefined;
    for (const row of this.#table.withCapability(mail.recipient)) {
      if (row.slot < 0) continue;
      const verdict = this.judge(sender, row, mail, manner, nowMs);
      if (verdict !== undefined) {
        first ??= { verdict, meant: row };
        continue;
      }
      const readiness = this.#words.readinessOf(row.slot);
      if (readiness === READINESS.live) return { row };
      if (best === undefined || readiness > best.readiness) best = { row, readiness };
    }
    if (best !== undefined) return { row: best.row };
    if (first !== undefined) return first;
    return { verdict: verdictOf(capabilityNotFound(mail.recipient)) };
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
    if (row.slot < 0) return false;
    const { request } = this.#decider;
    request.sender = this.partyOf(readerId);
    request.type = 'notification';
    request.schemaVersion = SCHEMA_VERSION;
    request.isBroadcast = false;
    request.expectsReply = expectsReply;
    request.justification = undefined;
    request.capability = undefined;
    request.proposes = [];
    request.deadlineAtMs = undefined;
    request.path = NO_PATH;
    request.isTool = false;
    return this.#decider.judgeDescribed(row.party)?.code !== 'SANDBOX_VIOLATION';
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

/**
 * What the runtime tells of a channel that was let open: that somebody listens, or that it is over. It carries nothing of an
 * agent, and an end that does not hear it waits for good.
 */
const isOfItself = ({ act }: ChannelMark): boolean => act !== 'open' && act !== 'data';

const NO_PATH: readonly PathHop[] = [];
/** What a message of a shared document has leave by: that its sender has joined. */
const FRAME = 'frame';

const verdictOf = ({ code, message }: OrreryError): Verdict => ({ code, reason: message });

/** A proposal may carry its justification in its payload. */
function justificationIn(mail: Mail): string | undefined {
  if (messageTypeOf(mail) !== 'task-proposal') return undefined;
  const { escalationJustification } = (mail.payload ?? {}) as { escalationJustification?: unknown };
  return typeof escalationJustification === 'string' ? escalationJustification : undefined;
}
