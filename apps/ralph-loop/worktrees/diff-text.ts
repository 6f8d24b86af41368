import type { Repository } from './repository.ts';

/** How much of a difference is read for a reader, unless they say otherwise, bytes. */
export const MAX_DIFF_BYTES = 200_000;

/**
 * The difference between two commits as text, for a reader. Binary files are only named. What is over `maxBytes` is left away, at
 * the end of a line, and a last line says so.
 */
export async function diffText(
  repository: Repository,
  { start, commit }: { readonly start: string; readonly commit: string },
  { maxBytes = MAX_DIFF_BYTES, signal }: { readonly maxBytes?: number; readonly signal?: AbortSignal } = {},
): Promise<string> {
  const diff = ['diff-tree', '-r', '-p', '-M', '--no-color', '--no-ext-diff', '--no-textconv'];
  const prefixes = ['--src-prefix=a/', '--dst-prefix=b/', '--unified=3'];
  const note = `[the rest of the difference is left away: it is longer than ${maxBytes} bytes]\n`;
  const { bytes, isCut } = await repository.git([...diff, ...prefixes, start, commit], {
    maxBytes,
    mayCut: true,
    signal,
  });
  // What is no UTF-8 takes more room as text.
  const text = Buffer.from(bytes.toString('utf8'));
  if (!isCut && text.length <= maxBytes) return text.toString('utf8');
  const room = Math.max(0, maxBytes - Buffer.byteLength(note));
  const end = room === 0 ? 0 : text.lastIndexOf('\n', room - 1) + 1;
  return `${text.subarray(0, end).toString('utf8')}${note}`;
}
