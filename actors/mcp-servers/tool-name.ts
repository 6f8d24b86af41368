/**
 * The characters that a capability id cannot have: anything but letters, digits, `-`, `_` and single dots inside, and a `_`
 * that could be taken for an escape.
 */
const UNFIT = /[^A-Za-z0-9_.-]|^\.|\.$|\.(?=\.)|_(?=u[0-9a-f])/gu;
const ESCAPED = /_u([0-9a-f]+)_/g;

/**
 * The capability id of a name at an MCP server: the name itself, if it can be an id. Other characters become
 * `_u<hexadecimal>_`, so that different names have different ids.
 */
export const idOfName = (name: string): string =>
  name.replace(UNFIT, (unfit) => `_u${(unfit.codePointAt(0) as number).toString(16)}_`);

/** The name that `idOfName` made this id from. */
export const nameOfId = (id: string): string =>
  id.replace(ESCAPED, (_, code: string) => String.fromCodePoint(Number.parseInt(code, 16)));
