import type { CodingPermission } from '../code-change.ts';
import { claudeStream } from '../streams/claude-stream.ts';
import type { CodingBackend, CodingOrder } from './coding-backend.ts';

const READ = 'Read,Glob,Grep,TodoWrite';
const EDIT = 'Edit,MultiEdit,Write,NotebookEdit';
const RUN = 'Bash';
const FETCH = 'WebFetch,WebSearch';

/** What settings of the user allow is refused all the same where it is listed as disallowed. */
const FLAGS: Readonly<Record<CodingPermission, readonly string[]>> = {
  read: flagsOf('default', [READ], [EDIT, RUN, FETCH]),
  edit: flagsOf('acceptEdits', [READ, EDIT], [RUN, FETCH]),
  run: flagsOf('acceptEdits', [READ, EDIT, RUN], [FETCH]),
  all: ['--permission-mode', 'bypassPermissions'],
};

/** Claude Code. */
export const claude: CodingBackend = {
  id: 'claude',
  name: 'Claude Code',
  command: 'claude',
  env: [
    'ANTHROPIC_API_KEY',
    'ANTHROPIC_AUTH_TOKEN',
    'CLAUDE_CODE_OAUTH_TOKEN',
    'AWS_ACCESS_KEY_ID',
    'AWS_SECRET_ACCESS_KEY',
    'AWS_SESSION_TOKEN',
    'AWS_BEARER_TOKEN_BEDROCK',
  ],
  tells: ['tokens', 'costUsd'],
  argsFor: ({ permission, limits: { maxTurns, maxCostUsd }, session }: CodingOrder) => [
    '-p',
    ...['--output-format', 'stream-json', '--verbose'],
    ...FLAGS[permission],
    ...(maxTurns === undefined ? [] : ['--max-turns', String(maxTurns)]),
    ...(maxCostUsd === undefined ? [] : ['--max-budget-usd', String(maxCostUsd)]),
    ...(session === undefined ? [] : ['--resume', session]),
  ],
  reader: claudeStream,
};

function flagsOf(mode: string, allowed: readonly string[], disallowed: readonly string[]): readonly string[] {
  return [
    ...['--permission-mode', mode],
    ...['--allowedTools', allowed.join(',')],
    ...['--disallowedTools', disallowed.join(',')],
    // No servers of the user's settings: nobody knows what their tools do.
    '--strict-mcp-config',
  ];
}
