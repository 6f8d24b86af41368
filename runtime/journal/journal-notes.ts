import { copyFileSync, readdirSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** Files of these names beside a journal tell of its envelopes by their numbers. */
const NOTES = ['-started-', '-spent-'];

/** Copies the notes beside a journal, of what was begun and what was spent, to `target`. */
export function copyNotes(file: string, target: string): void {
  for (const name of readdirSync(dirname(file))) {
    const rest = name.slice(basename(file).length);
    if (!(name.startsWith(basename(file)) && NOTES.some((suffix) => rest.startsWith(suffix)))) continue;
    const from = join(dirname(file), name);
    if (statSync(from, { throwIfNoEntry: false })?.isFile() === true) copyFileSync(from, target + rest);
  }
}
