import { notSerialisable } from '../../runtime/protocol/errors.ts';
import { findUnserialisable } from '../../runtime/protocol/json-safety.ts';
import type { Part } from '../../runtime/protocol/task.ts';
import { isObject } from './capability-meant.ts';
import type { Json } from './task-log.ts';

const BYTES = 'application/octet-stream';

/**
 * What an agent has answered, as the parts of an artifact: text, bytes (`Uint8Array`, or `{bytes, mediaType, filename?}`
 * with bytes or base 64), or data. None for undefined. Throws NOT_SERIALISABLE for what is none of these.
 */
export function partsOf(output: unknown): Part[] {
  if (output === undefined) return [];
  if (typeof output === 'string') return [{ text: output }];
  if (output instanceof Uint8Array) return [{ raw: base64(output), mediaType: BYTES }];
  const file = fileOf(output);
  if (file !== undefined) return [file];
  const fault = findUnserialisable(output, 'output');
  if (fault !== undefined) throw notSerialisable(fault.path, fault.kind);
  return [{ data: output as Json }];
}

function fileOf(output: unknown): Part | undefined {
  if (!isObject(output) || !Object.keys(output).every((key) => FILE.has(key))) return undefined;
  const { bytes, mediaType, filename } = output as {
    bytes?: unknown;
    mediaType?: unknown;
    filename?: unknown;
  };
  if (typeof mediaType !== 'string' || (filename !== undefined && typeof filename !== 'string'))
    return undefined;
  const raw = bytes instanceof Uint8Array ? base64(bytes) : bytes;
  if (typeof raw !== 'string' || !BASE64.test(raw)) return undefined;
  return { raw, mediaType, ...(filename === undefined ? {} : { filename }) };
}

const FILE: ReadonlySet<string> = new Set(['bytes', 'mediaType', 'filename']);
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

const base64 = ({ buffer, byteOffset, byteLength }: Uint8Array): string =>
  Buffer.from(buffer, byteOffset, byteLength).toString('base64');
