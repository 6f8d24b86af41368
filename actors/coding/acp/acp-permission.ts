import type { CodingPermission } from '../code-change.ts';
import type { ToolKind } from '../coding-event.ts';

/** What an agent asks whether it may: `paths` are all that it names. */
export interface AskedPermission {
  readonly kind: ToolKind;
  readonly paths: readonly string[];
}

/** An answer that the agent offers. */
export interface PermissionOption {
  readonly optionId: string;
  readonly kind: string;
}

/** `optionId` is absent where nothing that is offered says it: then the agent is told that it was cancelled. */
export interface PermissionAnswer {
  readonly isAllowed: boolean;
  readonly optionId?: string;
}

/** What each permission adds to those before it. */
const LADDER: readonly { readonly permission: CodingPermission; readonly kinds: readonly ToolKind[] }[] = [
  { permission: 'read', kinds: ['read', 'search', 'think'] },
  { permission: 'edit', kinds: ['edit', 'delete', 'move'] },
  { permission: 'run', kinds: ['execute'] },
];
const CHANGES: ReadonlySet<ToolKind> = new Set<ToolKind>(['edit', 'delete', 'move']);

/**
 * Whether `permission` covers it. Below `all`, everything that it names is to be within the worktree, and a change that does not
 * say of what is refused.
 */
export function isPermitted(
  permission: CodingPermission,
  { kind, paths }: AskedPermission,
  isWithin: (path: string) => boolean,
): boolean {
  if (permission === 'all') return true;
  const step = LADDER.findIndex(({ kinds }) => kinds.includes(kind));
  if (step === -1 || step > LADDER.findIndex((each) => each.permission === permission)) return false;
  if (CHANGES.has(kind) && paths.length === 0) return false;
  return paths.every(isWithin);
}

/** Chooses of what is offered: what is allowed or refused for once only, so that the next time it asks again. */
export function answerPermission(isAllowed: boolean, options: readonly PermissionOption[]): PermissionAnswer {
  const wanted = isAllowed ? 'allow_once' : 'reject_once';
  const optionId = options.find(({ kind }) => kind === wanted)?.optionId;
  return optionId === undefined ? { isAllowed: false } : { isAllowed, optionId };
}
