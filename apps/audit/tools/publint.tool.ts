import { dirname, join, posix } from 'node:path';
import type { SourceText } from '@orrery/ralph-loop/findings/source-text';
import type { Tool } from '../tool.ts';
import { isSample } from './aside.ts';
import { firstOfEach, hitOf, ruleTable, scanFiles } from './scan-files.ts';

/** Rules that hold before a build too: most entry points do not exist in a fresh copy. */
const RULES = ruleTable('publint', {
  medium: {
    'bin-file-not-executable': 'A command has no shebang; it does not start',
    'exports-default-should-be-last': 'Conditions after "default" are never reached',
    'exports-glob-no-deprecated-subpath-mapping': 'Node no longer knows folders in "exports"; use a pattern',
    'exports-module-should-be-esm': 'The "module" condition leads to CommonJS',
    'exports-types-should-be-first':
      'TypeScript takes the first condition that it knows, so "types" counts only where it comes first',
    'exports-value-invalid': 'An entry of "exports" does not begin with ./; Node refuses it',
    'field-invalid-value-type': 'A field of package.json is not of its type',
    'file-invalid-explicit-format':
      'A file is not in the module format that its name promises; Node refuses it',
    'file-invalid-format': 'A file is CommonJS where the package promises modules; Node refuses it',
    'imports-default-should-be-last': 'Conditions after "default" are never reached',
    'imports-key-invalid': 'A name in "imports" does not begin with #; Node refuses it',
    'imports-value-invalid': 'An entry of "imports" leads nowhere that Node would look',
    'local-dependency': 'A dependency is a folder of this machine; nobody else can install it',
    'module-should-be-esm': '"module" leads to CommonJS',
  },
  low: {
    'exports-missing-root-entrypoint': 'The package has a main file, but "exports" hides it',
    'exports-module-should-precede-require': 'Bundlers take "require" before they come to "module"',
    'file-invalid-jsx-extension': 'Node does not run JSX',
  },
});

/** Finds packages that do not work once installed. */
export const publint: Tool = {
  name: 'publint',
  module: import.meta.url,
  packages: ['publint'],
  licence: 'MIT',
  home: 'https://publint.dev',
  replaces: 'the rules dependencies.* on what a package exports',
  rules: RULES,
  nothing: 'no packages that are published',
  takes: (file) => /(^|\/)package\.json$/.test(file) && !isSample(file),
  run: async (job, progress) => {
    const [{ publint: lint }, { formatMessage }] = await Promise.all([
      import('publint'),
      import('publint/utils'),
    ]);
    let published = 0;
    const result = await scanFiles(job, progress, async (source) => {
      const manifest = manifestIn(source);
      if (!isPublished(manifest)) return [];
      published += 1;
      // Packing would start a package manager, and with some the package's scripts.
      const { messages } = await lint({
        pkgDir: dirname(join(job.root, source.file)),
        pack: false,
        level: 'warning',
      });
      const hits = messages.flatMap((message) => {
        // Without "exports" it checks all files, most of which are no entry points.
        if (message.path[0] === 'name') return [];
        // A package in the same repository exists for its developers.
        if (message.code === 'LOCAL_DEPENDENCY' && isWithin(source.file, manifest, message.path)) return [];
        // Node detects the format of such a file, and runs it as a module.
        if (message.code === 'FILE_INVALID_FORMAT' && message.args.actualFormat === 'ESM') return [];
        const id = `publint/${message.code.toLowerCase().replaceAll('_', '-')}`;
        const says = formatMessage(message, manifest, { color: false })?.replace(/\s+/g, ' ');
        const place = source.positionAt(offsetOf(message.path, source));
        const help = `https://publint.dev/rules#${message.code.toLowerCase()}`;
        return hitOf(RULES, id, source, { ...place, message: `${RULES[id]?.what}. ${says ?? ''}`, help });
      });
      return firstOfEach(hits);
    });
    return { ...result, filesSeen: published };
  },
};

type Manifest = Record<string, unknown>;

function manifestIn({ text }: SourceText): Manifest {
  const value: unknown = JSON.parse(text);
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Manifest) : {};
}

const isPublished = ({ private: isPrivate, name, version }: Manifest): boolean =>
  isPrivate !== true && typeof name === 'string' && typeof version === 'string';

/** Whether a dependency such as `file:..` is a folder in the repository. */
function isWithin(file: string, manifest: Manifest, [section = '', name = '']: readonly string[]): boolean {
  const folder = String((manifest[section] as Manifest | undefined)?.[name]).replace(/^\w+:/, '');
  return !posix.join(posix.dirname(file), folder).startsWith('..');
}

/** The offset of the last key in a path. Each key is searched after the one before; indexes are skipped. */
function offsetOf(path: readonly string[], { text }: SourceText): number {
  return path
    .filter((key) => !/^\d+$/.test(key))
    .reduce((from, key) => {
      const at = text.indexOf(JSON.stringify(key), from);
      return at === -1 ? from : at;
    }, 0);
}
