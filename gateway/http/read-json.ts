import { isDeeperThan } from '../../runtime/protocol/json-depth.ts';

/** What bytes say as JSON in UTF-8. `too-deep`: whoever reads it would run out of stack. */
export type JsonRead =
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'no-json' }
  | { readonly kind: 'too-deep' };

const UTF8 = new TextDecoder('utf-8', { fatal: true });

export function readJson(bytes: Uint8Array): JsonRead {
  let value: unknown;
  try {
    value = JSON.parse(UTF8.decode(bytes));
  } catch {
    return { kind: 'no-json' };
  }
  return isDeeperThan(value) ? { kind: 'too-deep' } : { kind: 'value', value };
}
