import type { TextRange } from '@orrery/ralph-loop/findings/evidence';

const BEGIN = /-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----/g;
/** Text between the lines of a key: escapes, quotes, joins, indentation. */
const BETWEEN = /\\[nr]|["'`+,;#*\s]/g;
const HEADERS = /(?:Proc-Type|DEK-Info|Version|Comment): [^\n]{0,120}\n/g;
/** More than a made-up key has, and less than the smallest real one (Ed25519: 64). */
const MIN_KEY_CHARACTERS = 60;
const LOOKED_AT = 1_000;

/**
 * Finds private keys that secretlint misses: encrypted ones, PGP blocks, incomplete keys, and keys in joined strings.
 * secretlint knows complete RSA, DSA, EC and OpenSSH keys.
 */
export function findPrivateKeys(text: string): TextRange[] {
  if (!text.includes('PRIVATE KEY')) return [];
  return [...text.matchAll(BEGIN)].flatMap((begin) => {
    const start = begin.index;
    const bodyStart = start + begin[0].length;
    const body = text.slice(bodyStart, bodyStart + LOOKED_AT);
    const end = body.indexOf('-----');
    const inside = end === -1 ? body : body.slice(0, end);
    return isKeyBody(inside) ? [{ start, end: bodyStart + inside.length }] : [];
  });
}

function isKeyBody(body: string): boolean {
  const joined = body.replace(/\\n/g, '\n').replace(HEADERS, '').replace(BETWEEN, '');
  const run = /^[A-Za-z0-9+/=]+/.exec(joined)?.[0] ?? '';
  return run.length >= MIN_KEY_CHARACTERS && new Set(run).size >= 16;
}
