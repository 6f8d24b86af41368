import { closeSync, openSync, readSync } from 'node:fs';
import { resolve } from 'node:path';
import { Baseline, type Mission, nearest, RuleLevel, SEVERITIES, Severity } from '@orrery/ralph-loop';
import { UsageError } from './usage-error.ts';

const MAX_WORKERS = 64;

/** Reads `--workers`. Throws UsageError. */
export function readWorkers(value: string | true | undefined): number | undefined {
  if (value === undefined) return undefined;
  const workers = /^\d+$/.test(String(value)) ? Number(value) : Number.NaN;
  if (workers >= 1 && workers <= MAX_WORKERS) return workers;
  throw new UsageError(`Option "--workers" is "${value}", expected a whole number from 1 to ${MAX_WORKERS}`);
}

/** Reads a positive number, such as `--seeds`. Throws UsageError. */
export function readCount(option: string, value: string | true | undefined): number | undefined {
  if (value === undefined) return undefined;
  const count = /^\d{1,9}$/.test(String(value)) ? Number(value) : 0;
  if (count >= 1) return count;
  throw new UsageError(`Option "${option}" is "${value}", expected a whole number from 1 to 999999999`);
}

/** The default of `--port`. */
export const DEFAULT_PORT = 4710;
const MAX_PORT = 65_535;

/** Reads `--port` or `--grpc-port`. Throws UsageError. */
export function readPort(option: string, value: string | true | undefined): number | undefined {
  if (value === undefined) return undefined;
  const port = /^\d{1,5}$/.test(String(value)) ? Number(value) : Number.NaN;
  if (port <= MAX_PORT) return port;
  throw new UsageError(`Option "${option}" is "${value}", expected a whole number from 0 to ${MAX_PORT}`);
}

/** The longest name that a store of the skills takes, UTF-16 code units. */
const MAX_PROJECT = 200;

/** Reads `--project`. Throws UsageError. */
export function readProjectName(value: string | true): string {
  const name = String(value);
  if (name.length >= 1 && name.length <= MAX_PROJECT && name.isWellFormed()) return name;
  throw new UsageError(`Option "--project" is "${name}", expected a name of 1 to ${MAX_PROJECT} characters`);
}

/** Reads values separated by commas. Throws UsageError. */
export function readList(option: string, value: string | true | undefined): readonly string[] {
  if (value === undefined) return [];
  const items = String(value)
    .split(',')
    .map((item) => item.trim());
  if (items.includes(''))
    throw new UsageError(`Option "${option}" is "${value}", expected names separated by commas`);
  return items;
}

/** The largest file that is read, bytes. Lists of keys and certificates are far smaller, and a device may be endless. */
const MAX_FILE_BYTES = 16 * 1024 * 1024;

/** Reads the file that an option names. Throws UsageError. */
export function readNamedFile(option: string, path: string): string {
  try {
    return textOfFile(path);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const why = code === 'ENOENT' ? 'there is no such file' : code === 'EISDIR' ? 'it is a folder' : message;
    throw new UsageError(`Option "${option}" is "${path}": ${why}`);
  }
}

function textOfFile(path: string): string {
  const file = openSync(path, 'r');
  try {
    const chunks: Buffer[] = [];
    for (let bytes = 0; bytes <= MAX_FILE_BYTES; ) {
      const chunk = Buffer.alloc(64 * 1024);
      const read = readSync(file, chunk);
      if (read === 0) return Buffer.concat(chunks).toString('utf8');
      chunks.push(chunk.subarray(0, read));
      bytes += read;
    }
    throw new Error(`it has more than ${MAX_FILE_BYTES} bytes`);
  } finally {
    closeSync(file);
  }
}

/** Reads `--fail-on`. Throws UsageError. */
export function readSeverity(value: string | true | undefined): Severity | undefined {
  if (value === undefined) return undefined;
  const severity = Severity.safeParse(value);
  if (severity.success) return severity.data;
  const meant = nearest(String(value), SEVERITIES);
  const hint = meant === undefined ? '' : `; did you mean "${meant}"?`;
  throw new UsageError(`Option "--fail-on" is "${value}", expected one of ${SEVERITIES.join(', ')}${hint}`);
}

/** Reads `--rule`: levels by names of rules. Throws UsageError. */
export function readLevels(value: string | true | undefined): ReadonlyMap<string, RuleLevel> {
  const levels = readList('--rule', value).map((item) => {
    const at = item.lastIndexOf('=');
    const level = RuleLevel.safeParse(item.slice(at + 1));
    if (at < 1 || !level.success)
      throw new UsageError(
        `Option "--rule" is "${item}", expected NAME=LEVEL with ${SEVERITIES.join(', ')} or off`,
      );
    return [item.slice(0, at).replace(/\/$/, ''), level.data] as const;
  });
  return new Map(levels);
}

/** Reads the report that `--baseline` names, as `--json` writes it. Throws UsageError. */
export function readBaseline(
  value: string | true | undefined,
): { readonly path: string; readonly findings: Baseline } | undefined {
  if (value === undefined) return undefined;
  const text = readNamedFile('--baseline', String(value));
  const parsed = Baseline.safeParse(jsonOf(text));
  if (parsed.success) return { path: resolve(String(value)), findings: parsed.data };
  throw new UsageError(`Option "--baseline" is "${value}", expected a report as "--json FILE" writes it`);
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** Reads `--explain`, the id of a task of the mission. Throws UsageError. */
export function readTask(value: string | true | undefined, { tasks }: Mission): string | undefined {
  if (value === undefined) return undefined;
  const ids = tasks.map(({ id }) => id);
  if (ids.includes(String(value))) return String(value);
  const meant = nearest(String(value), ids);
  const hint = meant === undefined ? '' : `; did you mean "${meant}"?`;
  throw new UsageError(`Option "--explain" is "${value}", expected a task: ${ids.join(', ')}${hint}`);
}
