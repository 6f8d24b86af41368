import { existsSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runTool, type ToolOutcome } from '../../run-tool.ts';
import type { Tool } from '../../tool.ts';
import {
  curious,
  exiting,
  greedy,
  lingering,
  misplacing,
  printing,
  talking,
  throwing,
} from '../planted/failing.tool.ts';

let root: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'orrery-run-tool-')));
  writeFileSync(join(root, 'a.ts'), 'export const a = 1;\n\n');
});
afterEach(() => rmSync(root, { recursive: true }));

interface RunOptions {
  readonly input?: Record<string, unknown>;
  readonly signal?: AbortSignal;
  readonly progress?: (done: number, of: number) => void;
}

const run = (tool: Tool, { input = {}, signal, progress }: RunOptions = {}): Promise<ToolOutcome> =>
  runTool(
    tool,
    { root, files: ['a.ts'], input },
    {
      agent: 'tester',
      signal: signal ?? new AbortController().signal,
      progress: progress ?? (() => undefined),
    },
  );

const messagesOf = (outcome: ToolOutcome): string[] =>
  'report' in outcome ? outcome.report.findings.map(({ message }) => message) : [];

describe('a tool that dies', () => {
  it('says what it threw', async () => {
    expect(await run(throwing)).toEqual({
      died: expect.stringContaining('throwing failed: Error: planted to throw'),
    });
  });

  it('is named with its exit and its last output', async () => {
    expect(await run(exiting)).toEqual({
      died: 'exiting ended with code 7 before it had a result; its last output: the last words',
    });
  });

  it('is told of memory, which is bounded', async () => {
    expect(await run(greedy)).toEqual({ died: 'greedy needs more than its 32 MB of memory' });
  });

  it('is ended when it does not stop talking', async () => {
    expect(await run(talking)).toEqual({ died: expect.stringContaining('talking was ended by SIGKILL') });
  });
});

describe('a tool that is cancelled', () => {
  it('ends with everything that it started', async () => {
    const stop = new AbortController();
    let pid = 0;
    const running = run(lingering, {
      signal: stop.signal,
      progress: (started) => {
        pid = started;
        stop.abort(new Error('enough'));
      },
    });
    await expect(running).rejects.toThrow('enough');
    await expect.poll(() => existsSync(`/proc/${pid}/exe`), { timeout: 100_000 }).toBe(false);
    expect(pid).toBeGreaterThan(1);
  });

  it('does not start when it is too late', async () => {
    const stop = AbortSignal.abort(new Error('too late'));
    await expect(run(printing, { signal: stop })).rejects.toThrow('too late');
  });
});

describe('the process of a tool', () => {
  it('reads the repository alone, writes to a folder that goes, and has nothing of ours around it', async () => {
    const outside = join(realpathSync(tmpdir()), `orrery-outside-${process.pid}`);
    writeFileSync(outside, 'secret');
    process.env['ORRERY_TEST_TOKEN'] = 'token';
    try {
      const outcome = await run(curious, { input: { outside, target: join(root, 'b.ts') } });
      expect(messagesOf(outcome).sort()).toEqual([
        'environment: HOME LANG PATH TMPDIR',
        expect.stringMatching(/^folder: .*orrery-tool-/),
        'home: /dev/null',
        'outside: ERR_ACCESS_DENIED',
        'scratch: undefined',
        'spawning: ERR_ACCESS_DENIED',
        'writing: ERR_ACCESS_DENIED',
      ]);
      const folder = messagesOf(outcome).find((message) => message.startsWith('folder: '));
      await expect
        .poll(() => existsSync(String(folder?.slice('folder: '.length))), { timeout: 100_000 })
        .toBe(false);
    } finally {
      delete process.env['ORRERY_TEST_TOKEN'];
      rmSync(outside);
    }
  });

  it('is not fooled by what a library prints', async () => {
    expect(messagesOf(await run(printing))).toEqual(['It is here.']);
  });

  it('puts hits where there is text, masks their messages, and notes those that stand nowhere', async () => {
    const outcome = await run(misplacing);
    if (!('report' in outcome)) throw new Error(JSON.stringify(outcome));
    const { findings, notes } = outcome.report;
    expect(findings.map(({ line, column, message }) => [line, column, message])).toEqual([
      [1, undefined, 'Past the end.'],
      [1, undefined, expect.stringMatching(/^It shows ghp_\*+ whole\.$/)],
    ]);
    expect(notes.map(({ kind }) => kind)).toEqual(['unknown-rule', 'misplaced']);
  });
});
