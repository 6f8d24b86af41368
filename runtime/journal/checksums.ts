import { crc32 } from 'node:zlib';

/** A column as SQLite gives it: a text, or the bytes of one that UTF-8 cannot say. */
export type Column = string | Uint8Array;

/** Sums of checksums stay below it, so that they are whole numbers of JavaScript's and of SQLite's. */
const SUM_MODULUS = 2 ** 48;
const SEEDS = 2 ** 32;

/** These find damage, not forgery: a CRC of what a row holds, its number or key included. */
export const mailChecksum = (number: number, recipient: Column, body: Column): number =>
  crc32(body, crc32(recipient, number % SEEDS));

export const recordChecksum = (kind: Column, key: Column, value: Column): number =>
  crc32(value, crc32(key, crc32(kind)));

/** The checksum of all rows, in whatever order they are added; `change` is what was added less what was taken away. */
export const sumOf = (sum: number, change: number): number =>
  (((sum + change) % SUM_MODULUS) + SUM_MODULUS) % SUM_MODULUS;

/**
 * What a journal says of itself; every commit writes it.
 *
 * - `life`    a text that each opening makes anew.
 * - `before`  the life of the opening before; empty for the first one.
 * - `commits` how many there were, over all lives.
 * - `next`    the number of the next mail.
 * - `content` the sum of the checksums of all rows that there are then.
 */
export interface JournalMetadata {
  readonly life: string;
  readonly before: string;
  readonly commits: number;
  readonly next: number;
  readonly content: number;
}

export const metadataChecksum = ({ life, before, commits, next, content }: JournalMetadata): number =>
  crc32(`${life} ${before} ${commits} ${next} ${content}`);
