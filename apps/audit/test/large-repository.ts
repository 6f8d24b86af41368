import {
  closeSync,
  ftruncateSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/**
 * - `files`        how many, in all.
 * - `sparseBytes`  what their sizes add up to; nearly all of it holes, so that it takes no disk.
 * - `sparseShare`  the share of files that are holes with a text at the start. @default 0.5
 */
export interface LargeRepositoryOptions {
  readonly files: number;
  readonly sparseBytes: number;
  readonly sparseShare?: number;
}

const FILES_A_FOLDER = 100;
/** Every file imports the next; the last of each ring of this many imports the first. */
const RING = 500;

/**
 * Makes a repository of many TypeScript files in a new temporary folder and returns the folder.
 *
 * Every thousandth file has a type error, every 2,500th calls `eval`, and the last file of each ring closes a circle of
 * imports. Remove it with `rm`.
 */
export function makeLargeRepository({
  files,
  sparseBytes,
  sparseShare = 0.5,
}: LargeRepositoryOptions): string {
  const root = mkdtempSync(join(tmpdir(), 'orrery-large-'));
  const sparse = Math.floor(files * sparseShare);
  const scripts = files - sparse - 2;
  write(root, 'package.json', '{ "name": "large", "private": true, "type": "module" }\n');
  write(root, 'tsconfig.json', JSON.stringify({ compilerOptions: TYPE_OPTIONS, include: ['src'] }));
  for (let index = 0; index < scripts; index++) write(root, scriptPath(index), scriptText(index, scripts));
  const each = sparse === 0 ? 0 : Math.floor(sparseBytes / sparse);
  for (let index = 0; index < sparse; index++) writeSparse(root, sparsePath(index), each);
  return root;
}

const TYPE_OPTIONS = {
  strict: true,
  target: 'ES2022',
  module: 'NodeNext',
  lib: ['ES2022'],
  types: [],
  noEmit: true,
};

const folderOf = (index: number): string => `d${Math.floor(index / FILES_A_FOLDER)}`;
const scriptPath = (index: number): string => `src/${folderOf(index)}/f${index}.ts`;
/** Half of them pretend to be scripts: a size or a name is no reason to read them. */
const sparsePath = (index: number): string =>
  `src/${folderOf(index)}/s${index}.${index % 2 === 0 ? 'bin' : 'ts'}`;

function scriptText(index: number, count: number): string {
  const isLastOfRing = index % RING === RING - 1 || index === count - 1;
  const target = isLastOfRing ? index - (index % RING) : index + 1;
  const lines = [
    `import { value${target} } from '../${folderOf(target)}/f${target}.js';`,
    `export interface Shape${index} { readonly id: number; readonly name: string; readonly tags: readonly string[] }`,
    `export const value${index} = (shape: Shape${index}): string => shape.tags.map((tag) => tag + shape.name).join(',');`,
    `export function total${index}(shapes: readonly Shape${index}[]): number {`,
    '  return shapes.filter(({ name }) => name !== "").reduce((sum, { id }) => sum + id, 0);',
    '}',
    `export const next${index} = (): unknown => value${target};`,
  ];
  if (index % 1_000 === 7) lines.push(`export const wrong${index}: number = 'text';`);
  if (index % 2_500 === 9) lines.push(`export const run${index} = (text: string): unknown => eval(text);`);
  return `${lines.join('\n')}\n`;
}

function write(root: string, path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

function writeSparse(root: string, path: string, bytes: number): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  const descriptor = openSync(join(root, path), 'w');
  writeSync(descriptor, '// data\n');
  ftruncateSync(descriptor, bytes);
  closeSync(descriptor);
}
