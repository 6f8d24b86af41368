import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Defect } from '../evidence.ts';
import type { FileDefects } from '../file-scan.ts';
import { JsonPlaces, parseJson } from '../json/parse-json.ts';
import { isPublished } from '../packages/published.ts';
import type { SourceText } from '../../findings/source-text.ts';

const README = /^readme(\.|$)/i;
const LICENCE = /^(?:licen[cs]e|copying|unlicense|notice)([.-]|$)/i;
/** Where hosting services look for a README, too. */
const README_FOLDERS = ['', 'docs', '.github'];

/** Whether a repository greets who comes to it. */
export const hasReadme = (root: string): boolean =>
  README_FOLDERS.some((folder) => has(root, folder, README));

/** What is missing beside the package.json of the repository. `root` is a real path. */
export function checkFrontDoor({ text }: SourceText, root: string): FileDefects {
  const parsed = parseJson(text);
  if ('fault' in parsed) return { defects: [], unparsable: parsed.fault };
  const rules: string[] = [];
  if (!hasReadme(root)) rules.push('docs.no-readme');
  if (isPublished(parsed.value) && isLicensed(parsed.value) && !has(root, '', LICENCE))
    rules.push('docs.no-licence');
  const offset = rules.length === 0 ? 0 : new JsonPlaces(text).offsetOf(['name']);
  return { defects: rules.map((rule): Defect => ({ rule, offset })) };
}

/** npm's word for what nobody may use. */
const isLicensed = (manifest: object): boolean =>
  !('license' in manifest) || !/^(?:UNLICENSED|SEE LICEN[CS]E IN )/.test(String(manifest.license));

function has(root: string, folder: string, name: RegExp): boolean {
  try {
    return readdirSync(join(root, folder)).some((entry) => name.test(entry));
  } catch {
    return false;
  }
}
