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
/** The folder with this app and the installed tools. */
const INSTALLED = realpathSync(fileURLToPath(new URL('../../', import.meta.url)));

const DEFAULT_HEAP_MB = 512;
/** The most output of a tool before it is killed, characters. */
const MAX_OUTPUT = 64 * 1024 * 1024;
/** Output that the reason of a death shows, characters. */
const SHOWN_OUTPUT = 600;
/** Output that is kept to explain a death, characters. A stack follows the reason. */
const KEPT_OUTPUT = 16_000;

export interface RunToolOptions {
  readonly agent: string;
  readonly signal: AbortSignal;
  readonly progress: (done: number, of: number) => void;
  /** Whether the tool is confined; false only in tests of what it would do otherwise. @default true */
  readonly isConfined?: boolean;
}

/** The outcome of a tool: its report, a sentence about its death, or what there was not to read. */
export type ToolOutcome =
  | { readonly report: AuditReport }
  | { readonly died: string }
  | { readonly nothing: string };

/**
 * Runs a tool in a process of its own. The process may read the repository and what is installed, and write to a scratch
 * folder that is removed afterwards. Rejects with the signal's reason when it aborts; the process and its children are ended
 * then.
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

/** The environment of a tool: no tokens, no options of Node, and no home with settings. */
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
    let output = '';
    const remember = (text: string): void => {
      output = (output + text).slice(-KEPT_OUTPUT);
    };
    const mayTalk = limitOutput(child);
    child.stderr?.setEncoding('utf8').on('data', (text: string) => mayTalk(text) && remember(text));
    readLines(child, mayTalk, (line) => {
      const message = messageIn(line);
      if (message === undefined) remember(`${line.slice(0, SHOWN_OUTPUT)}\n`);
      else if ('progress' in message) progress(...message.progress);
      else if ('result' in message) over({ report: message.result });
      else over({ died: `${tool.name} failed: ${oneLine(message.error).slice(0, SHOWN_OUTPUT)}` });
    });
    child.once('error', (error) => over({ died: `${tool.name} did not start: ${error.message}` }));
    // Its children may still hold its output open.
    child.once('exit', () => kill(child));
    child.once('close', (code, killer) => over({ died: deathOf(tool, { code, killer, output }) }));
  });
}

/** Makes a function that says whether a process is within `MAX_OUTPUT`, and kills it if not. */
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
  readonly output: string;
}

function deathOf({ name, maxHeapMb = DEFAULT_HEAP_MB }: Tool, { code, killer, output }: Death): string {
  if (output.includes('heap out of memory')) return `${name} needs more than its ${maxHeapMb} MB of memory`;
  const how = killer === null ? `ended with code ${code}` : `was ended by ${killer}`;
  const last = oneLine(output).slice(-SHOWN_OUTPUT);
  return `${name} ${how} before it had a result${last === '' ? '' : `; its last output: ${last}`}`;
}

const oneLine = (text: string): string => stripVTControlCharacters(text).replace(/\s+/g, ' ').trim();

/**
 * Kills the process and its children, and removes its folder. It waits for nothing, because this process may end soon. Files
 * that are written meanwhile are removed when the process has ended.
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

/** Kills its process group, which includes its children. */
function kill({ pid }: Piped): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // The group is gone.
  }
}
