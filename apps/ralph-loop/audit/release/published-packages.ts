import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { FileDefects } from '../file-scan.ts';
import { JsonPlaces, parseJson } from '../json/parse-json.ts';
import { isPublished } from '../packages/published.ts';
import type { SourceText } from '../../findings/source-text.ts';

const MANIFEST = /(^|\/)package\.json$/;
/** What programs copy to begin a package with. */
const TEMPLATE = /(^|\/)(?:templates?|boilerplates?|skeletons?|starters?|examples?|demos?)\//i;

export const isPackageManifest = (file: string): boolean => MANIFEST.test(file) && !TEMPLATE.test(file);

/** What is missing from the package.json of a package that is published. `root` is a real path. */
export function checkPackage(source: SourceText, root: string): FileDefects {
  const parsed = parseJson(source.text);
  if ('fault' in parsed) return { defects: [], unparsable: parsed.fault };
  if (!isPublished(parsed.value)) return { defects: [] };
  const places = new JsonPlaces(source.text);
  const offset = places.offsetOf(['name']);
  const saysWhat = 'files' in parsed.value || existsSync(join(root, dirname(source.file), '.npmignore'));
  return {
    defects: [
      ...(saysWhat ? [] : [{ rule: 'release.publishes-everything', offset }]),
      ...('engines' in parsed.value ? [] : [{ rule: 'release.no-engines', offset }]),
    ],
  };
}
