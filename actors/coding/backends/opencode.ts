import type { CodingPermission } from '../code-change.ts';
import { opencodeStream } from '../streams/opencode-stream.ts';
import type { CodingBackend, CodingOrder } from './coding-backend.ts';

const READ = { '*': 'deny', read: 'allow', glob: 'allow', grep: 'allow', list: 'allow', todowrite: 'allow' };
const REFUSED = { external_directory: 'deny', webfetch: 'deny', websearch: 'deny', task: 'deny' };

/** The last rule that fits counts. */
const RULES: Readonly<Record<CodingPermission, Readonly<Record<string, string>>>> = {
  read: { ...READ, edit: 'deny', bash: 'deny', ...REFUSED },
  edit: { ...READ, edit: 'allow', bash: 'deny', ...REFUSED },
  run: { ...READ, edit: 'allow', bash: 'allow', ...REFUSED },
  all: { '*': 'allow' },
};

/** opencode. Its permissions are a variable of its environment. It has no limits of its own. */
export const opencode: CodingBackend = {
  id: 'opencode',
  name: 'opencode',
  command: 'opencode',
  env: ['OPENCODE_API_KEY', 'ANTHROPIC_API_KEY', 'OPENAI_API_KEY', 'GEMINI_API_KEY', 'OPENROUTER_API_KEY'],
  tells: ['tokens', 'costUsd'],
  argsFor: ({ session }: CodingOrder) => [
    ...['run', '--format', 'json'],
    ...(session === undefined ? [] : ['--session', session]),
  ],
  envFor: ({ permission }: CodingOrder) => ({ OPENCODE_PERMISSION: JSON.stringify(RULES[permission]) }),
  reader: opencodeStream,
};
