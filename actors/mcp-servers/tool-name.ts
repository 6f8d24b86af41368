/** What no capability id has where it stands: everything but letters, digits, `-`, `_`, and dots between others. */
const UNFIT = /[^A-Za-z0-9_.-]|^\.|\.$|\.(?=\.)|_(?=u[0-9a-f])/gu;
const ESCAPED = /_u([0-9a-f]+)_/g;

/**
 * The id under which something with this name at an MCP server stands here, and nothing else there does: the name itself where
 * it can be an id; what cannot be in one is written `_u<hexadecimal>_`.
 */
export const idOfName = (name: string): string =>
  name.replace(UNFIT, (unfit) => `_u${(unfit.codePointAt(0) as number).toString(16)}_`);

/** The name there of which `idOfName` has made this id. */
export const nameOfId = (id: string): string =>
  id.replace(ESCAPED, (_, code: string) => String.fromCodePoint(Number.parseInt(code, 16)));
