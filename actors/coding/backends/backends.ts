import { claude } from './claude.ts';
import { codex } from './codex.ts';
import type { CodingBackend } from './coding-backend.ts';
import { gemini } from './gemini.ts';
import { opencode } from './opencode.ts';

/** The programs that `commandAgent` knows, by their ids. */
export const BACKENDS: Readonly<Record<'claude' | 'codex' | 'gemini' | 'opencode', CodingBackend>> = {
  claude,
  codex,
  gemini,
  opencode,
};
