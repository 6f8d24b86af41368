import { z } from 'zod';
import { mayNotGoOut, notPermitted } from '../../runtime/protocol/edge-errors.ts';
import {
  deadlineExceeded,
  invalidOptions,
  isOrreryError,
  type OrreryError,
  reasonOf,
  notSerialisable,
} from '../../runtime/protocol/errors.ts';
import type {
  FilterQuery,
  FirewallGuard,
  FirewallHooks,
  SanitizeResponse,
  ZKAttestFunc,
} from '../../runtime/protocol/firewall.ts';
import { JsonValue } from '../../runtime/protocol/json-value.ts';
import { Milliseconds } from '../../runtime/protocol/milliseconds.ts';
import { parseOptions } from '../../runtime/protocol/parse-options.ts';
import type { Clock } from '../../runtime/protocol/seams.ts';
import { createHash } from 'node:crypto';

/**
 * What was kept out or in, for whoever runs the system.
 *
 * - `kind`             `unauthenticated` is who has not proved who they are.
 * - `peer`, `toolName` of what was denied.
 * - `reason`           also what was thrown, which nobody outside is told.
 */
export interface FirewallEvent {
  readonly kind: 'denied' | 'withheld' | 'unauthenticated';
  readonly peer?: string;
  readonly toolName?: string;
  readonly reason: string;
}

export interface FirewallGuardDeps {
  readonly clock: Pick<Clock, 'setTimer'>;
  readonly tell: (event: FirewallEvent) => void;
}

const isHook = (value: unknown): boolean => typeof value === 'function';
const hook = <Type>() => z.custom<Type>(isHook, 'a function').optional();

const Fields = {
  filterQuery: hook<FilterQuery>(),
  sanitizeResponse: hook<SanitizeResponse>(),
  zkAttest: hook<ZKAttestFunc>(),
  did: z.string().min(1).optional(),
  timeoutMs: Milliseconds.default(30_000),
};
/** A hook whose name is misspelt would let everybody in. */
const Plain = z.strictObject(Fields);
const OfAClass = z.object(Fields);

/** Throws INVALID_OPTIONS naming field and value. */
export function firewallGuard(hooks: FirewallHooks, { clock, tell }: FirewallGuardDeps): FirewallGuard {
  const { timeoutMs, did } = parseHooks(hooks);
  /** What a hook comes to, in its time. */
  const asked = async <Value>(name: string, call: () => Value | Promise<Value>): Promise<Value> => {
    const { promise: late, reject } = Promise.withResolvers<never>();
    const stop = clock.setTimer(timeoutMs, () => reject(deadlineExceeded(name, timeoutMs)));
    try {
      return await Promise.race([call(), late]);
    } finally {
      stop();
    }
  };
  const withheld = (name: string, error: unknown): OrreryError => {
    tell({ kind: 'withheld', reason: `${name}: ${reasonOf(error)}` });
    return mayNotGoOut();
  };
  return {
    attests: hooks.zkAttest !== undefined,
    async filterQuery(peer, toolName) {
      if (hooks.filterQuery === undefined) return;
      const denied = (reason: string, told: string): OrreryError => {
        tell({ kind: 'denied', peer, toolName, reason });
        return notPermitted(told, { peer, toolName });
      };
      const sentence = `The firewall does not let ${peer} use ${toolName}`;
      let verdict: unknown;
      try {
        verdict = await asked('filterQuery', () => hooks.filterQuery?.(peer, toolName));
      } catch (error) {
        const isSaid = isOrreryError(error) && error.code === 'REFUSED';
        throw denied(reasonOf(error), isSaid ? error.message : sentence);
      }
      if (verdict !== undefined && verdict !== true) throw denied(sentence, sentence);
    },
    async sanitizeResponse(result) {
      if (hooks.sanitizeResponse === undefined) return result as JsonValue;
      try {
        const clean = await asked('sanitizeResponse', () =>
          hooks.sanitizeResponse?.(JSON.parse(JSON.stringify(result))),
        );
        return clean === undefined ? undefined : JsonValue.parse(clean);
      } catch (error) {
        throw withheld('sanitizeResponse', error);
      }
    },
    async attest(result) {
      const { zkAttest } = hooks;
      if (zkAttest === undefined || did === undefined) return undefined;
      try {
        const hash = await responseHash(result);
        const hex = Buffer.from(hash).toString('hex');
        const proof = await asked('zkAttest', () => hooks.zkAttest?.(hash, sha256(did)));
        if (!(proof instanceof Uint8Array) || proof.length === 0)
          throw invalidOptions('zkAttest', proof, 'a proof of at least one byte');
        return { did, sha256: hex, proof: Buffer.from(proof).toString('base64') };
      } catch (error) {
        throw withheld('zkAttest', error);
      }
    },
  };
}

function parseHooks(hooks: FirewallHooks) {
  const isPlain =
    typeof hooks === 'object' && hooks !== null && Object.getPrototypeOf(hooks) === Object.prototype;
  const parsed = parseOptions<typeof OfAClass>(isPlain ? Plain : OfAClass, hooks, 'firewall');
  const { filterQuery, sanitizeResponse, zkAttest, did } = parsed;
  if (filterQuery === undefined && sanitizeResponse === undefined && zkAttest === undefined)
    throw invalidOptions('firewall', hooks, 'filterQuery, sanitizeResponse or zkAttest');
  if (zkAttest !== undefined && did === undefined)
    throw invalidOptions('firewall.did', did, 'whose proofs zkAttest makes');
  return parsed;
}

/**
 * The SHA-256 that an attestation is of: of a result's canonical JSON (RFC 8785), 32 bytes. Whoever checks a proof computes it
 * anew of what they have got. Rejects with NOT_SERIALISABLE for what is no JSON. Needs the package `canonicalize`.
 */
export async function responseHash(result: unknown): Promise<Uint8Array> {
  // Loaded where something is attested: nothing else here needs it.
  const { default: canonicalize } = await import('canonicalize');
  const text = canonicalize(result);
  if (text === undefined) throw notSerialisable('result', typeof result);
  return sha256(text);
}

const sha256 = (text: string): Uint8Array => createHash('sha256').update(text).digest();
