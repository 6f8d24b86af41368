import { isBuiltin } from 'node:module';

/** As npm has them today: older names with capitals are rarer than aliases that bundlers resolve. */
const PACKAGE = /^(@[a-z0-9][\w.~-]*\/)?[a-z0-9][a-z0-9._~-]*(?=\/|$)/;

/** The name of the package that an import asks for; undefined for files, built-ins, aliases and URLs. */
export function packageNamed(specifier: string): string | undefined {
  const asked = specifier.replace(/[?#].*$/, '');
  if (/[:!\\]/.test(asked) || isBuiltin(asked)) return undefined;
  return PACKAGE.exec(asked)?.[0];
}

/** The package that holds the types of `name`. */
export const typesOf = (name: string): string => `@types/${name.replace(/^@([^/]+)\//, '$1__')}`;
