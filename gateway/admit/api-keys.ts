import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import type { Authenticator } from '../../runtime/protocol/admission.ts';
import { unauthenticated } from '../../runtime/protocol/edge-errors.ts';
import { invalidOptions } from '../../runtime/protocol/errors.ts';
import { parseOptions, requireMethod } from '../../runtime/protocol/parse-options.ts';
import { Principal } from '../../runtime/protocol/principal.ts';
import type { Clock } from '../../runtime/protocol/seams.ts';
import { bearerTokenOf } from './bearer.ts';

const HEADER = 'x-api-key';
const KEY = /^ork_([0-9a-f]{16})_([A-Za-z0-9_-]{43})$/;

/**
 * What is kept of a key: enough to know it again, not enough to make it.
 *
 * - `id`     stands in the key; 16 hexadecimal digits.
 * - `sha256` of the whole key, in hexadecimal digits. It has 256 random bits, so that nothing slower is needed.
 */
export const ApiKeyRecord = Principal.omit({ id: true }).extend({
  id: z.string().regex(/^[0-9a-f]{16}$/, '16 hexadecimal digits'),
  kind: z.enum(['agent', 'user', 'service']),
  sha256: z.string().regex(/^[0-9a-f]{64}$/, 'a SHA-256 in hexadecimal digits'),
});
export type ApiKeyRecord = z.infer<typeof ApiKeyRecord>;

/** Of whom a new key is. `trust` @default 1, said by the key's issuer */
export type ApiKeyOwner = Pick<ApiKeyRecord, 'kind'> & Partial<Omit<ApiKeyRecord, 'id' | 'sha256' | 'kind'>>;

/** A new key, which is shown once, and what is to be kept of it. */
export function newApiKey(owner: ApiKeyOwner): { readonly key: string; readonly record: ApiKeyRecord } {
  const id = randomBytes(8).toString('hex');
  const key = `ork_${id}_${randomBytes(32).toString('base64url')}`;
  const sha256 = digestOf(key).toString('hex');
  const record = { roles: [], trust: { score: 1, source: 'api-key' }, ...owner, id, sha256 };
  return { key, record: parseOptions(ApiKeyRecord, record, 'owner') };
}

/**
 * Who has a key, as `X-API-Key` or as a bearer token. One that is not on the list, or has expired: UNAUTHENTICATED.
 *
 * `find` gives what is kept of a key by its id, so that keys can be added and withdrawn while the gateway runs; a list does
 * for those that never change. Fails with INVALID_OPTIONS on a record that is none.
 */
export function apiKeys(
  records: readonly ApiKeyRecord[] | ((id: string) => Promise<ApiKeyRecord | undefined>),
  deps: { clock: Pick<Clock, 'now'> },
): Authenticator {
  requireMethod('apiKeys.clock', deps?.clock, 'now', 'a clock, such as that of systemSeams()');
  const { clock } = deps;
  const find = typeof records === 'function' ? records : finderOf(records);
  return {
    scheme: 'ApiKey',
    authenticate: async (request) => {
      const key = request.headers.get(HEADER) ?? bearerTokenOf(request);
      if (key === null || key === undefined) return undefined;
      const [, id] = KEY.exec(key) ?? [];
      if (id === undefined) {
        if (request.headers.get(HEADER) === null) return undefined;
        throw unauthenticated('its API key is none');
      }
      const record = await find(id);
      if (record === undefined || !isSame(digestOf(key), record.sha256))
        throw unauthenticated('its API key is not known');
      const { sha256: _, ...owner } = record;
      if (owner.expiresAtMs !== undefined && owner.expiresAtMs <= clock.now())
        throw unauthenticated('its API key has expired');
      return { ...owner, id: `key:${id}` };
    },
  };
}

function finderOf(records: readonly ApiKeyRecord[]): (id: string) => Promise<ApiKeyRecord | undefined> {
  if (!Array.isArray(records)) throw invalidOptions('keys', records, 'a list of records, or a function');
  const byId = new Map<string, ApiKeyRecord>();
  records.forEach((record, at) => {
    const parsed = parseOptions(ApiKeyRecord, record, `keys[${at}]`);
    if (byId.has(parsed.id)) throw invalidOptions(`keys[${at}].id`, parsed.id, 'an id that no other key has');
    byId.set(parsed.id, parsed);
  });
  return async (id) => byId.get(id);
}

const digestOf = (key: string): Buffer => createHash('sha256').update(key).digest();

const isSame = (digest: Buffer, sha256: string): boolean =>
  timingSafeEqual(digest, Buffer.from(sha256, 'hex'));
