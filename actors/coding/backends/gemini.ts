import type { CodingPermission } from '../code-change.ts';
import { geminiStream } from '../streams/gemini-stream.ts';
import type { CodingBackend, CodingOrder } from './coding-backend.ts';

/** Without a terminal it refuses each tool that it would have to ask about. */
const FLAGS: Readonly<Record<CodingPermission, readonly string[]>> = {
  read: ['--approval-mode', 'default'],
  edit: ['--approval-mode', 'auto_edit'],
  run: ['--approval-mode', 'auto_edit', '--allowed-tools=run_shell_command'],
  all: ['--approval-mode', 'yolo'],
};

/** Gemini CLI. It reads its task where it has no terminal. It has no limits of its own, and tells no dollars. */
export const gemini: CodingBackend = {
  id: 'gemini',
  name: 'Gemini CLI',
  command: 'gemini',
  env: ['GEMINI_API_KEY', 'GOOGLE_API_KEY', 'GOOGLE_APPLICATION_CREDENTIALS'],
  tells: ['tokens'],
  argsFor: ({ permission, session }: CodingOrder) => [
    ...['--output-format', 'stream-json'],
    ...FLAGS[permission],
    ...(session === undefined ? [] : ['--resume', session]),
  ],
  // It starts in no folder that it was not told to trust, and has nobody to ask.
  envFor: () => ({ GEMINI_CLI_TRUST_WORKSPACE: 'true' }),
  reader: geminiStream,
};
