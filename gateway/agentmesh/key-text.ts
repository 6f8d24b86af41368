/** The two algorithms of AgentMesh's keys: for signatures, and for agreeing on a secret. */
export type KeyAlgorithm = 'ed25519' | 'x25519';

/** A raw key of 32 bytes as text: `ed25519:<base64>`. */
export const keyText = (algorithm: KeyAlgorithm, key: Uint8Array): string =>
  `${algorithm}:${Buffer.from(key).toString('base64')}`;

/** What a key's text says, or in `fault` what is expected in its place. */
export type KeyReading =
  | { readonly key: Uint8Array; readonly isPrefixed: boolean }
  | { readonly fault: string };

/** Reads a key, with its prefix or, as old files have it, without one. Another prefix is a fault. */
export function readKeyText(algorithm: KeyAlgorithm, text: unknown): KeyReading {
  if (typeof text !== 'string') return { fault: `a text that begins with "${algorithm}:"` };
  const colon = text.indexOf(':');
  if (colon !== -1 && text.slice(0, colon) !== algorithm) return { fault: `the prefix "${algorithm}:"` };
  const encoded = text.slice(colon + 1);
  const bytes = Buffer.from(encoded, 'base64');
  if (bytes.length !== 32 || bytes.toString('base64') !== encoded) return { fault: '32 bytes in base64' };
  return { key: new Uint8Array(bytes), isPrefixed: colon !== -1 };
}
