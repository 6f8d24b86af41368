import { createHash } from 'node:crypto';
import { jsonOf } from '../../../runtime/protocol/json-text.ts';
import { invalidParams } from './mcp-errors.ts';

/** So much of the sum goes along: enough that what was changed, or made up, is not taken for a cursor. */
const SUM_LENGTH = 12;

/**
 * Names the item that a page ends with: `field` says of which list, `key` which one. It means the same in every process that
 * serves the list, and says nothing that its reader has not been shown.
 */
export function cursorAfter(field: string, key: string): string {
  const text = Buffer.from(JSON.stringify(key)).toString('base64url');
  const sum = createHash('sha256').update(`${field}\n${text}`).digest('base64url');
  return `${sum.slice(0, SUM_LENGTH)}${text}`;
}

/** The key in a cursor. Throws for one that was never given out for this list; whether its item is still there is the same. */
export function keyIn(field: string, cursor: unknown): string {
  const key = typeof cursor === 'string' ? textIn(cursor.slice(SUM_LENGTH)) : undefined;
  if (key !== undefined && cursorAfter(field, key) === cursor) return key;
  throw invalidParams('cursor: is none of this list; begin again without one', { cursor });
}

function textIn(encoded: string): string | undefined {
  const key = jsonOf(Buffer.from(encoded, 'base64url').toString('utf8'));
  return typeof key === 'string' ? key : undefined;
}
