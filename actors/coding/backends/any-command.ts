import { basename } from 'node:path';
import type { CodingBackend } from './coding-backend.ts';

/** A program that Orrery knows nothing of: it is told its task, and ends. Nothing that it prints is an event. */
export const anyCommand = ([command = '', ...args]: readonly string[]): CodingBackend => ({
  id: basename(command).replaceAll(/[^\w.-]/g, '_'),
  name: basename(command),
  command,
  env: [],
  tells: [],
  argsFor: () => args,
  reader: () => ({ read: () => [], end: () => [] }),
});
