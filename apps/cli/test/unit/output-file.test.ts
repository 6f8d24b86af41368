import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { OutputFile } from '../../output-file.ts';
import { TraceFile } from '../../trace-file.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'orrery-output-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('an output file', () => {
  it('takes its place only when it is whole', () => {
    const path = join(folder, 'out.json');
    writeFileSync(path, 'before');
    const file = new OutputFile('--json', path);
    file.write('after');
    expect(readFileSync(path, 'utf8')).toBe('before');
    file.commit();
    expect(readFileSync(path, 'utf8')).toBe('after');
    expect(readdirSync(folder)).toEqual(['out.json']);
  });

  it('leaves what was there, and nothing beside it, when it is given up', () => {
    const path = join(folder, 'out.json');
    writeFileSync(path, 'before');
    const file = new OutputFile('--json', path);
    file.write('half');
    file.discard();
    file.write('late');
    file.commit();
    expect(readFileSync(path, 'utf8')).toBe('before');
    expect(readdirSync(folder)).toEqual(['out.json']);
  });

  it('keeps a symbolic link and writes what it names', () => {
    writeFileSync(join(folder, 'real.json'), 'before');
    symlinkSync('real.json', join(folder, 'link.json'));
    const file = new OutputFile('--json', join(folder, 'link.json'));
    file.write('after');
    file.commit();
    expect(readFileSync(join(folder, 'real.json'), 'utf8')).toBe('after');
    expect(readdirSync(folder).sort()).toEqual(['link.json', 'real.json']);
  });

  it('does not replace a device', () => {
    const file = new OutputFile('--json', '/dev/null');
    file.write('gone');
    file.commit();
    expect(() => new OutputFile('--json', '/dev/null')).not.toThrow();
  });

  it('is refused before anything is written when it cannot be', () => {
    writeFileSync(join(folder, 'file'), '');
    const refused = (path: string) => () => new OutputFile('--json', path);
    expect(refused(folder)).toThrow(`Option "--json" is "${folder}", which is a folder, expected a file`);
    expect(refused(join(folder, 'no/out.json'))).toThrow(`the folder ${join(folder, 'no')} does not exist`);
    expect(refused(join(folder, 'file/out.json'))).toThrow(`${join(folder, 'file')} is not a folder`);
  });

  it.skipIf(process.getuid?.() === 0)('is refused in a folder that may not be written', () => {
    chmodSync(folder, 0o500);
    expect(() => new OutputFile('--json', join(folder, 'out.json'))).toThrow('it cannot be written (EACCES)');
    chmodSync(folder, 0o700);
  });
});

describe('a trace file', () => {
  it('holds a header and every event, a line each', () => {
    const path = join(folder, 'trace.jsonl');
    const header = {
      format: 'orrery-trace',
      version: 1,
      orrery: '0.1.0',
      startedAtMs: 5,
      mission: 'm',
      root: '/',
      agents: [],
    } as const;
    const trace = new TraceFile(new OutputFile('--record', path), header);
    const events = Array.from(
      { length: 3_000 },
      (_, index) => ({ type: 'message-sent', timestamp: index }) as const,
    );
    for (const event of events) trace.record(event);
    trace.commit();
    const lines = readFileSync(path, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown);
    expect(lines).toEqual([header, ...events]);
  });
});
