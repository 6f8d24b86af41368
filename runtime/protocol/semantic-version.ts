import { z } from 'zod';

const MAX_LENGTH = 256;
const SHAPE =
  /^(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)(?:-[\dA-Za-z-]+(?:\.[\dA-Za-z-]+)*)?(?:\+[\dA-Za-z-]+(?:\.[\dA-Za-z-]+)*)?$/;
/** A number with a leading 0, which is invalid before a plus. */
const PADDED = /[-.]0\d+(?=[.+]|$)/;
const EXPECTED = 'a semantic version such as "1.0.0"';

const isSemantic = (text: string): boolean =>
  text.length <= MAX_LENGTH && SHAPE.test(text) && !PADDED.test(text.split('+')[0] as string);

/** `major.minor.patch`, with what may follow a hyphen and a plus (Semantic Versioning 2.0.0). */
export const SemanticVersion = z.string(EXPECTED).refine(isSemantic, EXPECTED);

/** Any version text as a semantic version: `v1.2` is 1.2.0, and a text without a leading number is 0.0.0. */
export function asSemanticVersion(text: string): string {
  if (isSemantic(text)) return text;
  const [, ...parts] = /^v?(\d{1,9})(?:\.(\d{1,9}))?(?:\.(\d{1,9}))?(?![\d])/.exec(text) ?? [];
  return [0, 1, 2].map((at) => Number(parts[at] ?? 0)).join('.');
}
