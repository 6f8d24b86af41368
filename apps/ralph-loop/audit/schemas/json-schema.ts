import { Ajv } from 'ajv';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { Ajv2020 } from 'ajv/dist/2020.js';
import draft6 from 'ajv/dist/refs/json-schema-draft-06.json' with { type: 'json' };
import Ajv4 from 'ajv-draft-04';
import type { Defect } from '../evidence.ts';
import type { FileDefects } from '../file-scan.ts';
import { JsonPlaces, parseJson } from '../json/parse-json.ts';
import type { SourceText } from '../../findings/source-text.ts';
import { danglingRefs, impossibleRequired, type SchemaFault, wrongPatterns } from './schema-faults.ts';

/** Names its draft near the beginning of the file, where people write it. */
const SCHEMA =
  /"\$schema"\s*:\s*"https?:\/\/json-schema\.org\/(draft-0[467]|draft\/2019-09|draft\/2020-12)\/schema#?"/;
const LOOKED_AT = 2_000;
/** A schema with more faults than this has one that explains them. */
const MAX_FAULTS = 20;

/** What is wrong with a JSON Schema; nothing is said of other JSON. */
export function checkJsonSchema(source: SourceText): FileDefects {
  const draft = SCHEMA.exec(source.text.slice(0, LOOKED_AT))?.[1];
  if (draft === undefined) return { defects: [] };
  const parsed = parseJson(source.text);
  if ('fault' in parsed) return faulty(parsed.fault);
  if (!isRoot(parsed.value)) return { defects: [] };
  try {
    const faults = [
      ...draftFaults(draft, parsed.value),
      ...wrongPatterns(parsed.value),
      ...danglingRefs(parsed.value),
      ...impossibleRequired(parsed.value),
    ].slice(0, MAX_FAULTS);
    return { defects: placed(faults, source.text) };
  } catch (error) {
    if (error instanceof RangeError) return { defects: [], unparsable: 'is nested too deeply to be walked' };
    throw error;
  }
}

/** Too deep for us is not yet wrong. */
function faulty(fault: string): FileDefects {
  if (!fault.startsWith('is not JSON')) return { defects: [], unparsable: fault };
  return { defects: [{ rule: 'schema.not-json', offset: 0, message: `The JSON Schema ${fault}` }] };
}

/** What names the draft is the schema itself, not one that it holds. */
const isRoot = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, '$schema');

function placed(faults: readonly SchemaFault[], text: string): Defect[] {
  if (faults.length === 0) return [];
  const places = new JsonPlaces(text);
  return faults.map(({ rule, message, path }) => ({ rule, message, offset: places.offsetOf([...path]) }));
}

interface Validator {
  validateSchema(schema: Record<string, unknown>): unknown;
  errors?:
    | readonly { readonly instancePath: string; readonly keyword: string; readonly message?: string }[]
    | null;
}

const OPTIONS = { strict: false, allErrors: true, logger: false, validateFormats: false } as const;

/** Each draft's own address, and what validates against it: made when it is needed, it holds the draft compiled. */
const DRAFTS: Readonly<Record<string, readonly [id: string, make: () => Validator]>> = {
  'draft-04': ['http://json-schema.org/draft-04/schema', () => new Ajv4.default(OPTIONS)],
  'draft-06': ['http://json-schema.org/draft-06/schema', () => new Ajv(OPTIONS).addMetaSchema(draft6)],
  'draft-07': ['http://json-schema.org/draft-07/schema', () => new Ajv(OPTIONS)],
  'draft/2019-09': ['https://json-schema.org/draft/2019-09/schema', () => new Ajv2019(OPTIONS)],
  'draft/2020-12': ['https://json-schema.org/draft/2020-12/schema', () => new Ajv2020(OPTIONS)],
};
const validators = new Map<string, Validator>();

/** These only say that something below them failed. */
const GROUPS = new Set(['anyOf', 'oneOf', 'allOf', 'if', 'not']);

/** Where the schema breaks its draft's own rules: one fault a place. */
function draftFaults(draft: string, schema: Readonly<Record<string, unknown>>): SchemaFault[] {
  const [id, make] = DRAFTS[draft] ?? [];
  if (id === undefined || make === undefined) return [];
  const validator = validators.get(draft) ?? make();
  validators.set(draft, validator);
  // People write http for https, and the other way round.
  if (validator.validateSchema({ ...schema, $schema: id }) !== false) return [];
  const faults = new Map<string, SchemaFault>();
  for (const { instancePath, keyword, message = 'is wrong' } of validator.errors ?? []) {
    if (GROUPS.has(keyword) || faults.has(instancePath)) continue;
    faults.set(instancePath, {
      rule: 'schema.not-a-schema',
      message: `${instancePath === '' ? 'The schema' : instancePath} ${message}`,
      path: pathOf(instancePath, schema),
    });
  }
  return [...faults.values()];
}

/** The keys of a JSON pointer; items of arrays by their numbers. */
function pathOf(pointer: string, root: unknown): (string | number)[] {
  let at = root;
  return pointer
    .split('/')
    .slice(1)
    .map((part) => {
      const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
      const step = Array.isArray(at) ? Number(key) : key;
      at = (at as Record<string | number, unknown> | undefined)?.[step];
      return step;
    });
}
