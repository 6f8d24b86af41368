import type { CodingPermission } from '../code-change.ts';
import { codexStream } from '../streams/codex-stream.ts';
import type { CodingBackend, CodingOrder } from './coding-backend.ts';

/** In its own sandbox it runs commands with any permission: without them it cannot read. They reach no other machine. */
const WORKTREE = ['--sandbox', 'workspace-write', '-c', 'sandbox_workspace_write.network_access=false'];
const FLAGS: Readonly<Record<CodingPermission, readonly string[]>> = {
  read: ['--sandbox', 'read-only'],
  edit: WORKTREE,
  run: WORKTREE,
  all: ['--sandbox', 'danger-full-access'],
};

/** Codex. It has no limits of its own, and tells no dollars. */
export const codex: CodingBackend = {
  id: 'codex',
  name: 'Codex',
  command: 'codex',
  env: ['OPENAI_API_KEY', 'CODEX_API_KEY', 'CODEX_ACCESS_TOKEN', 'AZURE_OPENAI_API_KEY'],
  tells: ['tokens'],
  argsFor: ({ permission, session }: CodingOrder) => [
    ...['exec', '--json', '--skip-git-repo-check', '-c', 'approval_policy=never'],
    ...FLAGS[permission],
    ...(session === undefined ? [] : ['resume', session]),
    '-',
  ],
  reader: codexStream,
};
