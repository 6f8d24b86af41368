/** Says whether `file` only declares: `a.d.ts`, `a.d.mts`, `a.d.css.ts`. */
export const isDeclarationFile = (file: string): boolean => /\.d\.([^./]+\.)?[cm]?ts$/.test(file);
