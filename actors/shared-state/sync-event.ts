import type { ErrorCode } from '../../runtime/protocol/errors.ts';
import type { A2ALogEvent } from '../../runtime/protocol/log-event.ts';
import type { Clock } from '../../runtime/protocol/seams.ts';
import type { A2AObservability } from '../../runtime/public.ts';

/**
 * Why a message was skipped.
 *
 * - `MALFORMED`    it is no sync message, or its bytes do not decode or do not apply.
 * - `OVERSIZED`    above the limit of its kind.
 * - `NOT_A_MEMBER` its source has not joined, or has left.
 * - `FORGED`       its signature is not its source's over exactly these bytes.
 * - `REPLAYED`     it comes from an earlier stay of its source, or from another channel.
 * - `DUPLICATE`    it has been here before; nobody is at fault.
 * - `FOREIGN`      it brings changes under the Yjs client id of another member.
 * - `INCOMPLETE`   it builds on changes that are not here; the state is asked for.
 * - `UNASKED`      a state that was not asked for.
 */
export type SyncRefusal =
  | 'MALFORMED'
  | 'OVERSIZED'
  | 'NOT_A_MEMBER'
  | 'FORGED'
  | 'REPLAYED'
  | 'DUPLICATE'
  | 'FOREIGN'
  | 'INCOMPLETE'
  | 'UNASKED';

export type SyncEventType =
  | 'message-refused'
  | 'gap-dropped'
  | 'state-asked'
  | 'state-applied'
  | 'compacted'
  | 'member-silent'
  | 'member-left'
  | 'handler-failed'
  | 'publish-failed'
  | 'log-failed';

/**
 * One thing that happened in a sync channel.
 *
 * - `sourceAgentId` whom it is about; of a refused message the source it names, '' when it names none.
 * - `refusal`       of `message-refused`.
 * - `security`      somebody sent what they may not.
 * - `timestamp`     Unix milliseconds.
 */
export interface SyncEvent {
  readonly type: SyncEventType;
  readonly sourceAgentId: string;
  readonly reason: string;
  readonly timestamp: number;
  readonly refusal?: SyncRefusal;
  readonly errorCode?: ErrorCode;
  readonly operationId?: string;
  readonly security?: boolean;
}

const CODES: Record<SyncRefusal, ErrorCode | undefined> = {
  MALFORMED: 'CRDT_DESERIALIZATION_FAILED',
  OVERSIZED: 'CRDT_DESERIALIZATION_FAILED',
  INCOMPLETE: 'CRDT_DESERIALIZATION_FAILED',
  FOREIGN: 'REFUSED',
  NOT_A_MEMBER: 'REFUSED',
  FORGED: 'REFUSED',
  REPLAYED: 'REFUSED',
  UNASKED: 'REFUSED',
  DUPLICATE: undefined,
};

/** The code and the security mark of a refusal. */
export function gravityOf(refusal: SyncRefusal): Pick<SyncEvent, 'errorCode' | 'security'> {
  const errorCode = CODES[refusal];
  if (errorCode === undefined) return {};
  return errorCode === 'REFUSED' ? { errorCode, security: true } : { errorCode };
}

/** The event as the log of a router and its tools has it; undefined for what is no error. */
export function logEventOf(event: SyncEvent): A2ALogEvent | undefined {
  const { errorCode, sourceAgentId, reason, timestamp, security } = event;
  if (errorCode === undefined) return undefined;
  const marked = security === undefined ? {} : { security };
  return {
    type: 'error',
    sender: sourceAgentId,
    agentId: sourceAgentId,
    errorCode,
    reason,
    timestamp,
    ...marked,
  };
}

export interface SyncReporterDeps {
  readonly clock: Clock;
  readonly observability?: Pick<A2AObservability, 'emit'> | undefined;
  readonly onEvent?: ((event: SyncEvent) => void) | undefined;
}

/** Tells what happens in a channel, and counts what was refused. */
export class SyncReporter {
  readonly refused: Partial<Record<SyncRefusal, number>> = {};
  readonly #deps: SyncReporterDeps;

  constructor(deps: SyncReporterDeps) {
    this.#deps = deps;
  }

  tell(type: SyncEventType, sourceAgentId: string, reason: string): void {
    this.#emit({ type, sourceAgentId, reason, timestamp: this.#deps.clock.now() });
  }

  /** A message was skipped. */
  refuse(
    refusal: SyncRefusal,
    message: { readonly sourceAgentId: string; readonly operationId?: string },
    reason: string,
  ): void {
    this.refused[refusal] = (this.refused[refusal] ?? 0) + 1;
    const { sourceAgentId, operationId } = message;
    this.#emit({
      type: 'message-refused',
      sourceAgentId,
      reason: `A message of ${sourceAgentId === '' ? 'nobody' : sourceAgentId} is skipped: ${reason}`,
      timestamp: this.#deps.clock.now(),
      refusal,
      ...gravityOf(refusal),
      ...(operationId === undefined ? {} : { operationId }),
    });
  }

  #emit(event: SyncEvent): void {
    const { observability, onEvent } = this.#deps;
    try {
      const logged = logEventOf(event);
      if (logged !== undefined) observability?.emit(logged);
      onEvent?.(event);
    } catch {
      // Whoever listens must not stop the channel.
    }
  }
}
