import { readFileSync } from 'node:fs';
import { type Mission, nearest, SEVERITIES, Severity } from '@orrery/ralph-loop';
import { UsageError } from './usage-error.ts';

const MAX_WORKERS = 64;

/** The value of `--workers`. */
export function readWorkers(value: string | true | undefined): number | undefined {
  if (value === undefined) return undefined;
  const workers = /^\d+$/.test(String(value)) ? Number(value) : Number.NaN;
  if (workers >= 1 && workers <= MAX_WORKERS) return workers;
  throw new UsageError(`Option "--workers" is "${value}", expected a whole number from 1 to ${MAX_WORKERS}`);
}

/** The value of `--seeds` or `--first-seed`. */
export function readCount(option: string, value: string | true | undefined): number | undefined {
  if (value === undefined) return undefined;
  const count = /^\d{1,9}$/.test(String(value)) ? Number(value) : 0;
  if (count >= 1) return count;
  throw new UsageError(`Option "${option}" is "${value}", expected a whole number from 1 to 999999999`);
}

const MAX_PORT = 65_535;

/** The value of `--port` or `--grpc-port`. */
export function readPort(option: string, value: string | true | undefined): number | undefined {
  if (value === undefined) return undefined;
  const port = /^\d{1,5}$/.test(String(value)) ? Number(value) : Number.NaN;
  if (port <= MAX_PORT) return port;
  throw new UsageError(`Option "${option}" is "${value}", expected a whole number from 0 to ${MAX_PORT}`);
}

/** A value of several, separated by commas. */
export function readList(option: string, value: string | true | undefined): readonly string[] {
  if (value === undefined) return [];
  const items = String(value)
    .split(',')
    .map((item) => item.trim());
  if (items.includes(''))
    throw new UsageError(`Option "${option}" is "${value}", expected names separated by commas`);
  return items;
}

/** The text of the file that an option names. */
export function readNamedFile(option: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const why = code === 'ENOENT' ? 'there is no such file' : code === 'EISDIR' ? 'it is a folder' : message;
    throw new UsageError(`Option "${option}" is "${path}": ${why}`);
  }
}

/** The value of `--fail-on`. */
export function readSeverity(value: string | true | undefined): Severity | undefined {
  if (value === undefined) return undefined;
  const severity = Severity.safeParse(value);
  if (severity.success) return severity.data;
  const meant = nearest(String(value), SEVERITIES);
  const hint = meant === undefined ? '' : `; did you mean "${meant}"?`;
  throw new UsageError(`Option "--fail-on" is "${value}", expected one of ${SEVERITIES.join(', ')}${hint}`);
}

/** The value of `--explain`: a task of the mission. */
export function readTask(value: string | true | undefined, { tasks }: Mission): string | undefined {
  if (value === undefined) return undefined;
  const ids = tasks.map(({ id }) => id);
  if (ids.includes(String(value))) return String(value);
  const meant = nearest(String(value), ids);
  const hint = meant === undefined ? '' : `; did you mean "${meant}"?`;
  throw new UsageError(`Option "--explain" is "${value}", expected a task: ${ids.join(', ')}${hint}`);
}
