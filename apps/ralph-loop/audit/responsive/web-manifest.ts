import { z } from 'zod';
import type { Defect } from '../evidence.ts';
import type { FileDefects } from '../file-scan.ts';
import { JsonPlaces, parseJson } from '../json/parse-json.ts';
import type { SourceText } from '../../findings/source-text.ts';

const NAMED = /\.webmanifest$/i;
const PERHAPS = /(^|\/)manifest\.json$/i;

export const mayBeWebManifest = (file: string): boolean => NAMED.test(file) || PERHAPS.test(file);

const WebManifest = z.object({
  name: z.string().optional().catch(undefined),
  short_name: z.string().optional().catch(undefined),
  start_url: z.string().optional().catch(undefined),
  icons: z
    .array(z.object({ sizes: z.string().optional().catch(undefined) }).catch({}))
    .optional()
    .catch(undefined),
});
type WebManifest = z.infer<typeof WebManifest>;

/** What a browser needs to install a web app and its manifest does not say. */
export function checkWebManifest(source: SourceText): FileDefects {
  const parsed = parseJson(source.text);
  if ('fault' in parsed) return { defects: [], unparsable: parsed.fault };
  const manifest = WebManifest.safeParse(parsed.value);
  if (!manifest.success || !isWebManifest(source.file, parsed.value as object)) return { defects: [] };
  const places = new JsonPlaces(source.text);
  const missing = missingFrom(manifest.data);
  const defects: Defect[] = [];
  if (missing.length > 0) {
    const message = `This web app manifest has no ${missing.join(', no ')}: the app cannot be installed`;
    defects.push({ rule: 'responsive.manifest', offset: places.offsetOf([]), message });
  }
  const sizes = missingSizes(manifest.data);
  if (sizes.length > 0) {
    const message = `This web app manifest has no icon of ${sizes.join(' and of ')} pixels`;
    defects.push({ rule: 'responsive.manifest-icons', offset: places.offsetOf(['icons']), message });
  }
  return { defects };
}

/** Browser extensions, bundlers and others call files so as well. */
function isWebManifest(file: string, value: object): boolean {
  if (NAMED.test(file)) return true;
  return !('manifest_version' in value) && ('start_url' in value || ('display' in value && 'icons' in value));
}

function missingFrom({ name, short_name, start_url, icons }: WebManifest): string[] {
  const missing: string[] = [];
  if (!name && !short_name) missing.push('name');
  if (!icons?.length) missing.push('icons');
  if (!start_url) missing.push('start_url');
  return missing;
}

const NEEDED_PX = [192, 512];

/** An icon as wide as needed or wider is scaled; of one that says nothing nothing is known. */
function missingSizes({ icons = [] }: WebManifest): number[] {
  if (icons.length === 0 || icons.some(({ sizes }) => sizes === undefined || /any/i.test(sizes))) return [];
  const widths = icons.flatMap(({ sizes = '' }) =>
    sizes.split(/\s+/).map((size) => Number.parseInt(size, 10)),
  );
  return NEEDED_PX.filter((needed) => !widths.some((width) => width >= needed));
}
