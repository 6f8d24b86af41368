import { faultsOf } from '../../runtime/protocol/payload-faults.ts';
import { isSignedBy } from './member-keys.ts';
import type { SyncRefusal } from './sync-event.ts';
import type { SyncMembership } from './sync-membership.ts';
import { type SyncKind, SyncMessage, signedBytes } from './sync-message.ts';
import type { SyncLimits } from './sync-options.ts';

/** A message that may be acted on, or why not; `sourceAgentId` is whom it names, '' when it names nobody. */
export type Admission =
  | { readonly message: SyncMessage }
  | { readonly refusal: SyncRefusal; readonly reason: string; readonly sourceAgentId: string };

export interface MessageGateDeps {
  readonly channelId: string;
  readonly agentId: string;
  readonly membership: Pick<SyncMembership, 'keyOf'>;
  readonly limits: SyncLimits;
}

/** How many operation ids are remembered. Updates are told apart by their counts, however old. */
const REMEMBERED_OPERATIONS = 4_096;

/** What stands between the medium and the channel: lets in what a member has signed, once. */
export class MessageGate {
  readonly #deps: MessageGateDeps;
  readonly #operations = new Set<string>();

  constructor(deps: MessageGateDeps) {
    this.#deps = deps;
  }

  /** Checks whatever arrived, the cheap things first. */
  admit(arrived: unknown): Admission {
    const parsed = SyncMessage.safeParse(arrived);
    if (!parsed.success) {
      return {
        refusal: 'MALFORMED',
        reason: faultsOf(parsed.error, arrived),
        sourceAgentId: namedSource(arrived),
      };
    }
    const message = parsed.data;
    const found = this.#inspect(message);
    if (found === undefined) return { message };
    const [refusal, reason] = found;
    return { refusal, reason, sourceAgentId: message.sourceAgentId };
  }

  #inspect(message: SyncMessage): readonly [SyncRefusal, string] | undefined {
    const { channelId, agentId, membership, limits } = this.#deps;
    const { sourceAgentId, operationId, kind, payload, signature } = message;
    if (message.channelId !== channelId)
      return ['REPLAYED', `it belongs to the channel "${message.channelId}"`];
    if (sourceAgentId === agentId) return ['DUPLICATE', 'it is our own'];
    const key = membership.keyOf(sourceAgentId);
    if (key === undefined) return ['NOT_A_MEMBER', 'its source is no member'];
    const maxBytes = maxBytesOf(kind, limits);
    if (payload.length > maxBytes) {
      return ['OVERSIZED', `its payload has ${payload.length} bytes, at most ${maxBytes} are taken`];
    }
    if ((message.stateVector?.length ?? 0) > limits.maxUpdateBytes) {
      return ['OVERSIZED', 'its state vector is longer than an update may be'];
    }
    if (!isSignedBy(key, signedBytes(message), signature)) return ['FORGED', 'its signature does not fit'];
    if (this.#operations.has(operationId)) return ['DUPLICATE', 'it has been here before'];
    this.#remember(operationId);
    return undefined;
  }

  #remember(operationId: string): void {
    this.#operations.add(operationId);
    if (this.#operations.size <= REMEMBERED_OPERATIONS) return;
    for (const oldest of this.#operations) {
      this.#operations.delete(oldest);
      return;
    }
  }
}

function maxBytesOf(kind: SyncKind, limits: SyncLimits): number {
  if (kind === 'state') return limits.maxStateBytes;
  return kind === 'update' || kind === 'ask' ? limits.maxUpdateBytes : limits.maxPresenceBytes;
}

function namedSource(arrived: unknown): string {
  const named = (arrived as { sourceAgentId?: unknown } | null | undefined)?.sourceAgentId;
  return typeof named === 'string' ? named.slice(0, 200) : '';
}
