import { wallClock } from '@orrery/ralph-loop/wall-clock';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { programOnPath } from '../../program-on-path.ts';
import { askProgram } from '../../short-program.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'orrery-ask-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const node = (script: string) =>
  askProgram({ command: process.execPath, args: ['-e', script], cwd: folder }, wallClock);

describe('askProgram', () => {
  it('resolves to what the program said and its exit code', async () => {
    expect(await node('console.log("1.2.3"); console.error("no"); process.exitCode = 3')).toEqual({
      code: 3,
      output: '1.2.3\n',
      isCut: false,
      log: 'no\n',
    });
  });

  it('keeps the beginning of what floods it, and lets it end', async () => {
    const { code, output, isCut } = await node('process.stdout.write("x".repeat(9 * 1024 * 1024))');
    expect({ code, isCut, length: output.length }).toEqual({ code: 0, isCut: true, length: 8 * 1024 * 1024 });
  });

  it('ends what says nothing within its time', async () => {
    const silent = ['-e', 'setInterval(() => {}, 1_000)'];
    const { code, failure } = await askProgram(
      { command: process.execPath, args: silent, timeoutMs: 1 },
      wallClock,
    );
    expect({ code, failure }).toEqual({ code: null, failure: 'said nothing within 0.001 s' });
  });

  it('gives it no secrets and nothing to read', async () => {
    process.env['ORRERY_TEST_API_KEY'] = 'x';
    try {
      const { output } = await node(
        'console.log(process.env.ORRERY_TEST_API_KEY, require("node:fs").readFileSync(0).length)',
      );
      expect(output).toBe('undefined 0\n');
    } finally {
      delete process.env['ORRERY_TEST_API_KEY'];
    }
  });

  it('says that a program is not there', async () => {
    const { failure } = await askProgram({ command: join(folder, 'nothing'), args: [] }, wallClock);
    expect(failure).toContain('not installed');
  });
});

describe('programOnPath', () => {
  it('finds files that may be run, in order, and neither folders nor other files', () => {
    for (const name of ['a/tool', 'b/tool', 'a/text']) {
      mkdirSync(join(folder, name, '..'), { recursive: true });
      writeFileSync(join(folder, name), '');
    }
    mkdirSync(join(folder, 'a/folder'));
    chmodSync(join(folder, 'b/tool'), 0o755);
    const path = `:${join(folder, 'a')}:${join(folder, 'none')}:${join(folder, 'b')}`;
    expect(programOnPath('tool', path)).toBe(join(folder, 'b/tool'));
    expect(programOnPath('text', path)).toBeUndefined();
    expect(programOnPath('folder', path)).toBeUndefined();
    expect(programOnPath('tool', undefined)).toBeUndefined();
  });
});
