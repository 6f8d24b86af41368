import { dirname, join } from 'node:path';
import type { ParsedConfig } from './compiler.ts';

/** Options that print, write, or load what the repository says: none of them has a say here. */
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

/** Gone from TypeScript 7. Without them a program means the same to those who read its types. */
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

/** As the compiler numbers them. */
const TARGET_ES5 = 1;
const MODULES = { none: 0, amd: 2, umd: 3, system: 4 };
const CLASSIC = 1;
const NODE_10 = 2;

/**
 * A configuration that extends the one at `config` and means the same to TypeScript 7, which has other defaults than older
 * compilers and knows some of their options no more. `isOlder`: the repository was written for TypeScript 5 or before.
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

/** What `baseUrl` said, as paths. */
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
