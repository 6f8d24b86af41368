import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { faultsOf } from '../../runtime/protocol/payload-faults.ts';
import { patchFault } from './patch.ts';

/** Where the mutants are, from the root of the repository. */
const FOLDER = 'test/mutants';
const FILE_NAME = /^\d{2}-[a-z0-9]+(-[a-z0-9]+)*\.patch$/;
const HEAD_LINE = /^([A-Z][a-z]+): *(.*)$/;
const CHANGED_FILE = /^(?:---|\+\+\+) (?:[ab]\/)?(\S+)/gm;
/** What a mutant may change: a bug in a test says nothing about the tests. */
const PRODUCT = /^(runtime|actors|transports|policies|gateway|apps\/[^/]+\/(?!test\/)|[a-z-]+\.ts$)/;

/** A test file. Which Vitest project runs it only vitest.config.ts knows. */
const Suite = z.string().regex(/^\S+\.test\.ts$/, 'expected a test file, "test/unit/x.test.ts"');

/**
 * What a patch says before its diff.
 *
 * - `breaks`  the bug, in one sentence.
 * - `promise` which requirement or promise it violates.
 * - `suites`  the test files that must fail, each of them.
 * - `ends`    `timeout` where the bug shows only in that a test never ends. @default failure
 */
const MutantHead = z.strictObject({
  breaks: z.string().min(1),
  promise: z.string().min(1),
  suites: z
    .string()
    .transform((suites) => suites.split(/, */))
    .pipe(z.array(Suite).min(1)),
  ends: z.enum(['failure', 'timeout']).default('failure'),
});

/** A planted bug; `name` is that of its file without the ending. */
export interface Mutant extends z.output<typeof MutantHead> {
  readonly name: string;
  readonly patch: string;
}

/** All mutants of the repository in `root`, by number. Throws when one is not as it should be, naming it. */
export function readMutants(root: string): readonly Mutant[] {
  const names = patchNames(root);
  for (const [at, name] of names.entries())
    if (name.slice(0, 2) === names[at - 1]?.slice(0, 2)) throw fault(name, 'its number is taken');
  return names.map((name) => readMutant(root, name));
}

/** The file names of all mutants, by number. */
export const patchNames = (root: string): readonly string[] =>
  readdirSync(join(root, FOLDER))
    .filter((name) => name.endsWith('.patch'))
    .sort();

/**
 * One mutant. Throws, naming it, when its head is incomplete, a suite does not exist, or its diff changes something else
 * than the product or does not apply to the working tree.
 */
export function readMutant(root: string, fileName: string): Mutant {
  if (!FILE_NAME.test(fileName)) throw fault(fileName, 'expected a name like 07-lost-credit.patch');
  const patch = join(root, FOLDER, fileName);
  const text = readFileSync(patch, 'utf8');
  const said = headOf(text);
  const head = MutantHead.safeParse(said);
  if (!head.success) throw fault(fileName, faultsOf(head.error, said));
  const missing = head.data.suites.find((suite) => !existsSync(join(root, suite)));
  if (missing !== undefined) throw fault(fileName, `its suite ${missing} does not exist`);
  const changed = changedFiles(text);
  if (changed.length === 0) throw fault(fileName, 'it changes nothing');
  const strange = changed.find((file) => !PRODUCT.test(file));
  if (strange !== undefined) throw fault(fileName, `it changes ${strange}, which is not the product`);
  const why = patchFault(root, patch);
  if (why !== undefined) throw fault(fileName, `it does not apply: ${why}`);
  return { ...head.data, name: fileName.replace(/\.patch$/, ''), patch };
}

/** The lines `Name: value` before the diff, by their names in lower case; a line that is indented continues the last. */
export function headOf(text: string): Record<string, string> {
  const head: Record<string, string> = {};
  let last = '';
  for (const line of text.split('\n')) {
    if (/^(diff --git|--- )/.test(line)) break;
    const [, name, value = ''] = HEAD_LINE.exec(line) ?? [];
    if (name !== undefined) {
      last = name.toLowerCase();
      head[last] = value.trim();
    } else if (last !== '' && line.trim() !== '') head[last] = `${head[last]} ${line.trim()}`.trim();
  }
  return head;
}

const changedFiles = (text: string): readonly string[] =>
  [...text.matchAll(CHANGED_FILE)].map(([, file = '']) => file).filter((file) => file !== '/dev/null');

const fault = (fileName: string, why: string): Error => new Error(`${FOLDER}/${fileName}: ${why}`);
