import { dirname, join } from 'node:path';
import type { ParsedConfig } from './compiler.ts';

/** Overrides options that print, write files, or load code of the repository. */
const FORCED = {
  noEmit: true,
  composite: false,
  incremental: false,
  tsBuildInfoFile: null,
  declaration: false,
  declarationMap: false,
  declarationDir: null,
  isolatedDeclarations: false,
  emitDeclarationOnly: false,
  traceResolution: false,
  listFiles: false,
  listEmittedFiles: false,
  explainFiles: false,
  diagnostics: false,
  extendedDiagnostics: false,
  generateTrace: null,
  generateCpuProfile: null,
  plugins: [],
  skipLibCheck: true,
  noUnusedLocals: false,
  noUnusedParameters: false,
  allowUnreachableCode: true,
  allowUnusedLabels: true,
};

/** Options that TypeScript 7 has removed. They do not change types. */
const GONE = [
  'downlevelIteration',
  'charset',
  'keyofStringsOnly',
  'noImplicitUseStrict',
  'suppressImplicitAnyIndexErrors',
  'suppressExcessPropertyErrors',
  'noStrictGenericChecks',
  'importsNotUsedAsValues',
  'preserveValueImports',
  'out',
  'outFile',
  'ignoreDeprecations',
];

/** The compiler's number of the target ES5. */
const TARGET_ES5 = 1;
/** The compiler's numbers of the module formats that become `esnext` here. */
const MODULES = { none: 0, amd: 2, umd: 3, system: 4 };
/** The compiler's number of the module resolution `classic`. */
const CLASSIC = 1;
/** The compiler's number of the module resolution `node10`. */
const NODE_10 = 2;

/**
 * Makes a configuration that extends the one at `config`, and means the same to TypeScript 7, which has other defaults and
 * fewer options than older compilers. `isOlder`: the repository is written for TypeScript 5 or before.
 */
export function checkedConfig(
  config: string,
  { options }: ParsedConfig,
  isOlder: boolean,
): { path: string; text: string } {
  const compilerOptions = {
    ...FORCED,
    ...Object.fromEntries(GONE.map((name) => [name, null])),
    ...translated(options),
    ...(isOlder ? olderDefaults(options) : {}),
  };
  return {
    path: join(dirname(config), `.checked.${config.slice(dirname(config).length + 1)}`),
    text: JSON.stringify({ extends: config, compilerOptions }),
  };
}

function translated(options: ParsedConfig['options']): Record<string, unknown> {
  const { target, module, moduleResolution, baseUrl, paths } = options;
  const isNode10 = moduleResolution === NODE_10 || moduleResolution === CLASSIC;
  return {
    ...(typeof target === 'number' && target <= TARGET_ES5 ? { target: 'es2015' } : {}),
    ...(Object.values(MODULES).includes(module as number) ? { module: 'esnext' } : {}),
    ...(isNode10
      ? { moduleResolution: 'bundler', resolvePackageJsonExports: false, resolvePackageJsonImports: false }
      : {}),
    ...(options['esModuleInterop'] === false ? { esModuleInterop: true } : {}),
    ...(options['allowSyntheticDefaultImports'] === false ? { allowSyntheticDefaultImports: true } : {}),
    ...(options['alwaysStrict'] === false ? { alwaysStrict: true } : {}),
    ...(typeof baseUrl === 'string' ? { baseUrl: null, paths: fromBase(baseUrl, paths) } : {}),
  };
}

/** Expresses `baseUrl` by `paths`. */
const fromBase = (baseUrl: string, paths: unknown): Record<string, readonly string[]> => ({
  '*': [join(baseUrl, '*')],
  ...Object.fromEntries(
    Object.entries((paths ?? {}) as Record<string, readonly string[]>).map(([name, places]) => [
      name,
      places.map((place) => (place.startsWith('/') ? place : join(baseUrl, place))),
    ]),
  ),
});

function olderDefaults(options: ParsedConfig['options']): Record<string, unknown> {
  const { target } = options;
  const isSaid = (name: string): boolean => options[name] !== undefined;
  return {
    ...(isSaid('strict') ? {} : { strict: false }),
    ...(isSaid('types') ? {} : { types: ['*'] }),
    ...(isSaid('noUncheckedSideEffectImports') ? {} : { noUncheckedSideEffectImports: false }),
    ...(isSaid('module') || (typeof target === 'number' && target > TARGET_ES5)
      ? {}
      : { module: 'commonjs' }),
  };
}
