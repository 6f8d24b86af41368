import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Disk, OutputFile } from '../../output-file.ts';
import { TraceFile } from '../../trace-file.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'orrery-output-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** A disk with room for so many bytes. */
function diskOf(bytes: number): Disk {
  let left = bytes;
  return {
    write: (descriptor, all, at) => {
      if (left === 0)
        throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
      const written = writeSync(descriptor, all, at, Math.min(left, all.length - at));
      left -= written;
      return written;
    },
    sync: () => undefined,
  };
}

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

  it('waits for the reader of a pipe that is full', () => {
    let refusals = 3;
    const disk: Disk = {
      ...diskOf(1_000),
      write: (descriptor, bytes, at) => {
        if (refusals-- > 0) throw Object.assign(new Error('EAGAIN'), { code: 'EAGAIN' });
        return writeSync(descriptor, bytes, at);
      },
    };
    const path = join(folder, 'out.json');
    const file = new OutputFile('--json', path, disk);
    expect(file.write('all')).toBe(true);
    file.commit();
    expect(readFileSync(path, 'utf8')).toBe('all');
  });

  it('leaves what was there when the disk is full, and nothing beside it of a text that did not fit', () => {
    const path = join(folder, 'out.json');
    writeFileSync(path, 'before');
    const file = new OutputFile('--json', path, diskOf(3));
    expect(file.write('after')).toBe(false);
    file.commit();
    file.discard();
    expect(file.failure).toBe('no space is left (ENOSPC)');
    expect(readFileSync(path, 'utf8')).toBe('before');
    expect(readdirSync(folder)).toEqual(['out.json']);
  });

  it('leaves what was there when it cannot be made safe', () => {
    const path = join(folder, 'out.json');
    writeFileSync(path, 'before');
    const sync = () => {
      throw Object.assign(new Error('EIO: i/o error, fsync'), { code: 'EIO' });
    };
    const file = new OutputFile('--json', path, { ...diskOf(1_000), sync });
    file.write('after');
    file.commit();
    const part = `${path}.${process.pid}.part`;
    expect(file.failure).toBe(`EIO: i/o error, fsync; what was written is in ${part}`);
    expect(readFileSync(path, 'utf8')).toBe('before');
    expect(readFileSync(part, 'utf8')).toBe('after');
  });

  it('is refused when it is a pipe that nobody reads', () => {
    const path = join(folder, 'pipe');
    execFileSync('bash', ['-c', 'mkfifo "$0"', path]);
    expect(() => new OutputFile('--json', path)).toThrow('nobody reads from it');
  });

  it('is refused before anything is written when it cannot be', () => {
    writeFileSync(join(folder, 'file'), '');
    const refused = (path: string) => () => new OutputFile('--json', path);
    expect(refused(folder)).toThrow(`Option "--json" is "${folder}", which is a folder, expected a file`);
    expect(refused(join(folder, 'no/out.json'))).toThrow(`the folder ${join(folder, 'no')} does not exist`);
    expect(refused(join(folder, 'file/out.json'))).toThrow(`${join(folder, 'file')} is not a folder`);
  });

  it.skipIf(process.platform !== 'linux')('is refused with the reason of the system', () => {
    const refused = (path: string) => () => new OutputFile('--json', path);
    expect(refused('/proc/version')).toThrow(
      'Option "--json" is "/proc/version": no file can be written in /proc: no such file or directory (ENOENT)',
    );
    expect(refused('/proc/version/x')).toThrow('"/proc/version/x": /proc/version is not a folder');
  });

  it.skipIf(process.getuid?.() === 0)('is refused in a folder that may not be written', () => {
    chmodSync(folder, 0o500);
    expect(() => new OutputFile('--json', join(folder, 'out.json'))).toThrow(
      `no file can be written in ${folder}: permission denied (EACCES)`,
    );
    chmodSync(folder, 0o700);
  });
});

const header = {
  format: 'orrery-trace',
  version: 1,
  orrery: '0.1.0',
  startedAtMs: 5,
  mission: 'm',
  root: '/',
  agents: [],
  machines: [],
} as const;

const recorded = (file: OutputFile, count: number) => {
  const trace = new TraceFile(file, header);
  const events = Array.from(
    { length: count },
    (_, index) => ({ type: 'message-sent', timestamp: index }) as const,
  );
  for (const event of events) trace.record(event);
  trace.commit();
  return { trace, events };
};

const linesOf = (path: string): unknown[] =>
  readFileSync(path, 'utf8')
    .split(/(?<=\n)/)
    .map((line) => JSON.parse(line) as unknown);

describe('a trace file', () => {
  it('holds a header and every event, a line each', () => {
    const path = join(folder, 'trace.jsonl');
    const { trace, events } = recorded(new OutputFile('--record', path), 3_000);
    expect(trace.failure).toBeUndefined();
    expect(linesOf(path)).toEqual([header, ...events]);
  });

  it('stops at a whole line when the disk is full, says where, and replaces no earlier trace', () => {
    const path = join(folder, 'trace.jsonl');
    writeFileSync(path, 'before');
    const { trace, events } = recorded(new OutputFile('--record', path, diskOf(100_000)), 3_000);
    const part = `${path}.${process.pid}.part`;
    const [, ...written] = linesOf(part);
    expect(written.length).toBeGreaterThan(0);
    expect(written).toEqual(events.slice(0, written.length));
    expect(trace.failure).toBe(
      `The trace could not be written to ${path} and stops after ${written.length} of 3000 events: ` +
        `no space is left (ENOSPC); what was written is in ${part}`,
    );
    expect(readFileSync(path, 'utf8')).toBe('before');
  });
});
