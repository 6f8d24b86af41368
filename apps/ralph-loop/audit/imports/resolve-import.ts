import { dirname, join, sep } from 'node:path';
import { type NapiResolveOptions, ResolverFactory } from 'oxc-resolver';

const OPTIONS: NapiResolveOptions = {
  extensions: ['.ts', '.tsx', '.mts', '.cts', '.js', '.jsx', '.mjs', '.cjs', '.json', '.d.ts'],
  // TypeScript sources import each other by the names of what they are compiled to.
  extensionAlias: {
    '.js': ['.ts', '.tsx', '.js', '.jsx'],
    '.jsx': ['.tsx', '.jsx'],
    '.mjs': ['.mts', '.mjs'],
    '.cjs': ['.cts', '.cjs'],
  },
  conditionNames: ['import', 'require', 'node', 'default', 'types'],
  mainFields: ['module', 'main', 'types'],
  builtinModules: true,
  nodePath: false,
};

/** A resolver remembers every path it has looked at; past this many questions it is told to forget. */
const QUESTIONS_REMEMBERED = 2_000;

/** Finds the file of the repository that an import means, by reading files' names and JSON only. */
export class ImportResolver {
  readonly #root: string;
  readonly #withConfig = new ResolverFactory({ ...OPTIONS, tsconfig: 'auto' });
  /** For what lies under a tsconfig.json that cannot be read: that is MARS' finding, not ours. */
  readonly #plain = new ResolverFactory(OPTIONS);
  #questions = 0;

  /** `root` is a real path. */
  constructor(root: string) {
    this.#root = root;
  }

  /** The file relative to the root; `outside` for packages and built-ins; `nowhere` if there is no such file. */
  resolve(file: string, specifier: string): { readonly file: string } | 'outside' | 'nowhere' {
    this.#forget();
    const from = join(this.#root, file);
    const asked = specifier.replace(/[?#].*$/, '') || specifier;
    const answer = this.#withConfig.resolveFileSync(from, asked);
    const found = answer.error === undefined ? answer : this.#plain.sync(dirname(from), asked);
    if (found.builtin !== undefined) return 'outside';
    if (found.path === undefined) return asked.startsWith('.') ? 'nowhere' : 'outside';
    const path = found.path.replace(/[?#].*$/, '');
    if (!path.startsWith(this.#root + sep) || path.includes(`${sep}node_modules${sep}`)) return 'outside';
    return { file: path.slice(this.#root.length + 1).replaceAll(sep, '/') };
  }

  #forget(): void {
    this.#questions += 1;
    if (this.#questions % QUESTIONS_REMEMBERED > 0) return;
    this.#withConfig.clearCache();
    this.#plain.clearCache();
  }
}
