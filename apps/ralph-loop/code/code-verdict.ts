import type { GatesVerdict } from '../gates/run-gates.ts';

/**
 * What came of checking an attempt.
 *
 * - `verdict`  of the gates; absent if they were not asked.
 * - `feedback` for the next attempt, if it was refused.
 * - `isStuck`  the attempt before was refused with the same files: another one would be, too.
 */
export interface CodeVerdict {
  readonly isAccepted: boolean;
  readonly feedback: string;
  readonly verdict?: GatesVerdict;
  readonly isStuck?: boolean;
}

/**
 * What came of merging an attempt.
 *
 * - `merged`   it is on the branch.
 * - `empty`    the branch had it already.
 * - `conflict` others have changed the same `files`.
 * - `refused`  the gates passed in its worktree, and not together with what others did.
 */
export type MergeVerdict =
  | { readonly kind: 'merged'; readonly commit: string; readonly verdict: GatesVerdict }
  | { readonly kind: 'empty' }
  | { readonly kind: 'conflict'; readonly files: readonly string[] }
  | { readonly kind: 'refused'; readonly verdict: GatesVerdict };
