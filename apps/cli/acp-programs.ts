/**
 * A program that is known to speak the Agent Client Protocol.
 *
 * - `id`      its id in a mission.
 * - `command` the program with its arguments.
 * - `isCli`   it is one that works without the protocol, too.
 */
export interface AcpProgram {
  readonly id: string;
  readonly command: readonly [program: string, ...args: string[]];
  readonly isCli: boolean;
}

/** The programs that are looked for, in this order. The adapters are for Claude Code, under its new and its former name, and Codex. */
export const ACP_PROGRAMS: readonly AcpProgram[] = [
  { id: 'gemini-acp', command: ['gemini', '--experimental-acp'], isCli: true },
  { id: 'opencode-acp', command: ['opencode', 'acp'], isCli: true },
  { id: 'claude-agent-acp', command: ['claude-agent-acp'], isCli: false },
  { id: 'claude-code-acp', command: ['claude-code-acp'], isCli: false },
  { id: 'codex-acp', command: ['codex-acp'], isCli: false },
];
