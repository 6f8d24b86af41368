import { createRequire } from 'node:module';

/** Required, not imported: the loader would keep a second copy of nine megabytes of source to look for exports. */
export const ts = createRequire(import.meta.url)('typescript') as typeof import('typescript');
