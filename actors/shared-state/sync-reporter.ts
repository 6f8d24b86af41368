import type { Clock } from '../../runtime/protocol/seams.ts';
import type { A2AObservability } from '../../runtime/public.ts';
import { gravityOf, logEventOf, type SyncEvent, type SyncEventType, type SyncRefusal } from './sync-event.ts';

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
