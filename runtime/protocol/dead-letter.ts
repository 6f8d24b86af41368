import type { A2AEnvelope } from './envelope.ts';
import type { ErrorCode } from './errors.ts';

/**
 * An envelope that nobody handled, and why.
 *
 * - `stack`   of the error that was thrown over it.
 * - `partial` what the last checkpoint of the work kept.
 */
export interface DeadLetter {
  readonly id: string | undefined;
  readonly sender: string;
  readonly recipient: string;
  readonly type: string;
  readonly code: ErrorCode;
  readonly reason: string;
  readonly stack?: string;
  readonly atMs: number;
  readonly envelope?: A2AEnvelope;
  readonly partial?: unknown;
}
