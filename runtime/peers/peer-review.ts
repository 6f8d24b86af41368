import type { Clock } from '../protocol/seams.ts';
import type { A2AEnvelope } from '../protocol/envelope.ts';
import { OrreryError } from '../protocol/errors.ts';
import { SCHEMA_VERSION } from '../protocol/message-types.ts';
import type { PeerExtension } from '../protocol/peer-extension.ts';
import { receive, type ReceiveFinding, type ReceivePolicy } from '../protocol/receive-policy.ts';
import type { SystemEvent } from '../protocol/system-event.ts';
import { PEERS_ID } from './peer-message.ts';

/** What a finding is about, as events have it. */
export type FindingAbout = Pick<
  SystemEvent,
  'targetAgentId' | 'channelId' | 'envelopeId' | 'sender' | 'recipient' | 'messageType'
>;

/** Whose answer it is, for whom, and to what. */
export interface AnswerAbout {
  readonly sender: string;
  readonly recipient: string;
  readonly envelopeId: string;
}

export interface PeerReviewDeps {
  readonly clock: Pick<Clock, 'now'>;
  readonly note: (event: SystemEvent) => void;
  readonly extension: PeerExtension | undefined;
}

/** Has rules look at what other nodes send, and tells what they find: a warning, or an error where something was refused. */
export class PeerReview {
  readonly #deps: PeerReviewDeps;
  /** By node: rules remember what it has sent before. */
  readonly #rules = new Map<string, readonly ReceivePolicy[]>();

  constructor(deps: PeerReviewDeps) {
    this.#deps = deps;
  }

  /** Looks at an envelope of an agent of a node. Returns why it is not handled. */
  envelope(node: string, envelope: A2AEnvelope): OrreryError | undefined {
    const rules = this.#rulesFor(node);
    if (rules === undefined) return undefined;
    const { findings } = receive(rules, { peer: node, envelope });
    const { id: envelopeId, sender, recipient, type: messageType } = envelope;
    const about = { targetAgentId: node, envelopeId, sender, recipient, messageType };
    for (const finding of findings) this.tell(finding, about);
    return refusalIn(findings);
  }

  /** Looks at what an agent of a node answers. Returns why it is not used. */
  answer(
    node: string,
    value: unknown,
    { sender, recipient, envelopeId }: AnswerAbout,
  ): OrreryError | undefined {
    if (typeof value !== 'object' || value === null || this.#deps.extension === undefined) return undefined;
    return this.envelope(node, {
      id: envelopeId,
      schemaVersion: SCHEMA_VERSION,
      sender,
      recipient,
      type: 'response',
      timestamp: this.#deps.clock.now(),
      payload: value,
    });
  }

  /** Tells of a finding. */
  tell(finding: ReceiveFinding, about: FindingAbout): void {
    const { clock, note } = this.#deps;
    const isRefused = finding.action === 'refuse';
    note({
      type: isRefused ? 'error' : 'warning',
      timestamp: clock.now(),
      agentId: PEERS_ID,
      ...about,
      ...(isRefused ? { errorCode: finding.code } : {}),
      success: finding.action === 'warn',
      reason: finding.reason,
    });
  }

  /** Forgets what a node has sent: it is not that node any more. */
  forget(node: string): void {
    this.#rules.delete(node);
  }

  #rulesFor(node: string): readonly ReceivePolicy[] | undefined {
    const { extension } = this.#deps;
    if (extension === undefined) return undefined;
    const known = this.#rules.get(node);
    if (known !== undefined) return known;
    const rules = extension.rules();
    this.#rules.set(node, rules);
    return rules;
  }
}

/** What is dropped is told to its node as well: it waits for an outcome. */
function refusalIn(findings: readonly ReceiveFinding[]): OrreryError | undefined {
  const last = findings.at(-1);
  if (last === undefined || last.action === 'warn') return undefined;
  return new OrreryError(last.action === 'refuse' ? last.code : 'REFUSED', last.reason);
}
