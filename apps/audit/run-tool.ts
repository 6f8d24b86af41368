import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { devNull, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import type { AuditReport } from '@orrery/ralph-loop';
import type { Tool, ToolJob } from './tool.ts';
import { ToolMessage, type ToolOrder } from './tool-message.ts';

const ENTRY = fileURLToPath(new URL('./tool-process.ts', import.meta.url));
/** Where the tools are installed, and this app is. */
const INSTALLED = realpathSync(fileURLToPath(new URL('../../', import.meta.url)));

const DEFAULT_HEAP_MB = 512;
/** A tool that says more characters than this says nothing that anybody will read. */
const MAX_OUTPUT = 64 * 1024 * 1024;
const LAST_WORDS = 600;
/** A stack follows the words that say why. */
const KEPT_WORDS = 16_000;

export interface RunToolOptions {
  readonly agent: string;
  readonly signal: AbortSignal;
  readonly progress: (done: number, of: number) => void;
  /** Without it the tool may read and run what it likes; for tests of what it would do then. @default true */
  readonly isConfined?: boolean;
}

/** What a tool came to: a report; or in a sentence how it died, or what there was not for it to read. */
export type ToolOutcome =
  | { readonly report: AuditReport }
  | { readonly died: string }
  | { readonly nothing: string };

/**
 * Runs a tool in a process of its own, which may read the repository and what is installed, may write to a folder that is
 * gone afterwards, and reaches nothing else. Rejects with the signal's reason when that aborts; the process, and whatever it
 * started, is ended then.
 */
export async function runTool(tool: Tool, job: ToolJob, options: RunToolOptions): Promise<ToolOutcome> {
  options.signal.throwIfAborted();
  const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'orrery-tool-')));
  const { agent, isConfined = true } = options;
  const flags = isConfined ? confinement(tool, job.root, scratch) : [];
  const child = spawn(
    process.execPath,
    ['--no-warnings', `--max-old-space-size=${tool.maxHeapMb ?? DEFAULT_HEAP_MB}`, ...flags, ENTRY],
    { cwd: scratch, env: environment(scratch), stdio: 'pipe', detached: true },
  );
  try {
    const order: ToolOrder = { agent, tool: tool.name, module: tool.module, ...job };
    child.stdin.on('error', () => undefined).write(`${JSON.stringify(order)}\n`);
    return await outcomeOf(tool, child, options);
  } finally {
    end(child, scratch);
  }
}

function confinement({ maySpawn, isNative }: Tool, root: string, scratch: string): string[] {
  return [
    '--permission',
    ...[root, INSTALLED, scratch].map((folder) => `--allow-fs-read=${folder}`),
    `--allow-fs-write=${scratch}`,
    ...(maySpawn === true ? ['--allow-child-process'] : []),
    ...(isNative === true ? ['--allow-addons'] : []),
  ];
}

/** Nothing of ours: no tokens, no options for Node, and no home with settings in it. */
const environment = (scratch: string): NodeJS.ProcessEnv => ({
  PATH: process.env['PATH'] ?? '',
  LANG: process.env['LANG'] ?? 'C.UTF-8',
  HOME: devNull,
  TMPDIR: scratch,
});

type Piped = ReturnType<typeof spawn> & Pick<ChildProcess, 'stdout' | 'stderr'>;

function outcomeOf(tool: Tool, child: Piped, { signal, progress }: RunToolOptions): Promise<ToolOutcome> {
  return new Promise((resolve, reject) => {
    const cutOff = (): void => reject(signal.reason);
    signal.addEventListener('abort', cutOff, { once: true });
    const over = (outcome: ToolOutcome): void => {
      signal.removeEventListener('abort', cutOff);
      resolve(outcome);
    };
    let words = '';
    const remember = (text: string): void => {
      words = (words + text).slice(-KEPT_WORDS);
    };
    const mayTalk = limitOutput(child);
    child.stderr?.setEncoding('utf8').on('data', (text: string) => mayTalk(text) && remember(text));
    readLines(child, mayTalk, (line) => {
      const message = messageIn(line);
      if (message === undefined) remember(`${line.slice(0, LAST_WORDS)}\n`);
      else if ('progress' in message) progress(...message.progress);
      else if ('result' in message) over({ report: message.result });
      else over({ died: `${tool.name} failed: ${oneLine(message.error).slice(0, LAST_WORDS)}` });
    });
    child.once('error', (error) => over({ died: `${tool.name} did not start: ${error.message}` }));
    // What it started may still hold its output.
    child.once('exit', () => kill(child));
    child.once('close', (code, killer) => over({ died: deathOf(tool, { code, killer, words }) }));
  });
}

/** Says whether a process may go on; one that does not stop talking is killed. */
function limitOutput(child: Piped): (text: string) => boolean {
  let left = MAX_OUTPUT;
  return ({ length }) => {
    left -= length;
    if (left < 0) kill(child);
    return left >= 0;
  };
}

/** Calls `onLine` with each whole line of the process's standard output. */
function readLines(child: Piped, mayTalk: (text: string) => boolean, onLine: (line: string) => void): void {
  let begun: string[] = [];
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    if (!mayTalk(text)) return;
    const parts = text.split('\n');
    const last = parts.pop() ?? '';
    for (const part of parts) {
      onLine(begun.join('') + part);
      begun = [];
    }
    begun.push(last);
  });
}

function messageIn(line: string): ToolMessage | undefined {
  try {
    return ToolMessage.safeParse(JSON.parse(line)).data;
  } catch {
    return undefined;
  }
}

interface Death {
  readonly code: number | null;
  readonly killer: NodeJS.Signals | null;
  readonly words: string;
}

function deathOf({ name, maxHeapMb = DEFAULT_HEAP_MB }: Tool, { code, killer, words }: Death): string {
  if (words.includes('heap out of memory')) return `${name} needs more than its ${maxHeapMb} MB of memory`;
  const how = killer === null ? `ended with code ${code}` : `was ended by ${killer}`;
  const last = oneLine(words).slice(-LAST_WORDS);
  return `${name} ${how} before it had a result${last === '' ? '' : `; its last words: ${last}`}`;
}

const oneLine = (text: string): string => stripVTControlCharacters(text).replace(/\s+/g, ' ').trim();

/**
 * Ends the process and everything that it started; its folder goes with it. Whoever runs it may be gone in a moment, so
 * nothing is waited for; what it writes while it ends goes when it has ended.
 */
function end(child: Piped, scratch: string): void {
  const remove = (): void => rmSync(scratch, { recursive: true, force: true, maxRetries: 3, retryDelay: 5 });
  const isOver = child.pid === undefined || child.exitCode !== null || child.signalCode !== null;
  kill(child);
  if (!isOver) child.once('exit', remove);
  try {
    remove();
  } catch (error) {
    if (isOver) throw error;
  }
}

/** To its group: what it started is in it. */
function kill({ pid }: Piped): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // The group is gone.
  }
}
