import { readFile } from 'node:fs/promises';

/** A file of the page. */
export interface PageFile {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly type: string;
}

const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  png: 'image/png',
  ico: 'image/x-icon',
  woff2: 'font/woff2',
  json: 'application/json',
  map: 'application/json',
};
/** Names as a build gives them: no folder above, no hidden file. */
const NAME = /^(?:[\w-][\w.-]*\/)*[\w-][\w.-]*\.([a-z0-9]+)$/i;

/** The file of this name below the page's folder; undefined when there is none. */
export async function pageFile(folder: URL, name: string): Promise<PageFile | undefined> {
  const type = TYPES[NAME.exec(name)?.[1]?.toLowerCase() ?? ''];
  if (type === undefined) return undefined;
  try {
    return { bytes: new Uint8Array(await readFile(new URL(name, folder))), type };
  } catch {
    return undefined;
  }
}
