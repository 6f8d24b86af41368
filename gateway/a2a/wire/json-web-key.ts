import type { webcrypto } from 'node:crypto';

/** A key as JSON (RFC 7517), in the types of Node: whoever gives one needs no package for it. */
export type JsonWebKey = webcrypto.JsonWebKey & {
  readonly kid?: string;
  readonly alg?: string;
  readonly use?: string;
};

/** Keys by their `kid`. */
export interface JsonWebKeySet {
  readonly keys: JsonWebKey[];
}
