import type { SourceText } from '@orrery/ralph-loop/findings/source-text';
import type { Hit, Tool } from '../tool.ts';
import { isSample } from './aside.ts';
import { firstOfEach, hitOf, ruleTable, scanFiles } from './scan-files.ts';

const RULES = ruleTable('ajv', {
  medium: {
    'dangling-ref': 'The reference leads nowhere in the schema',
    'not-a-schema': 'The schema breaks the rules of the draft that it names',
    'not-json': 'The schema is not JSON',
  },
});

/** Finds JSON Schemas that validators refuse. */
export const jsonSchema: Tool = {
  name: 'ajv',
  module: import.meta.url,
  packages: ['ajv', 'ajv-draft-04', 'yaml'],
  licence: 'MIT',
  home: 'https://ajv.js.org',
  replaces: 'the rules schema.* on JSON Schemas',
  rules: RULES,
  nothing: 'no JSON Schemas',
  takes: (file) => /\.json$/i.test(file) && !isSample(file) && !/(^|\/)package(?:-lock)?\.json$/.test(file),
  run: async (job, progress) => {
    const [validatorFor, { isNode, parseDocument }] = await Promise.all([validators(), import('yaml')]);
    let schemas = 0;
    const result = await scanFiles(job, progress, (source) => {
      const draft = SCHEMA.exec(source.text.slice(0, LOOKED_AT))?.[1];
      if (draft === undefined) return [];
      const schema = jsonIn(source);
      if (schema === undefined) return hitOf(RULES, 'ajv/not-json', source, { line: 1 });
      // The draft must be named at the root, not in a nested schema.
      if (!Object.hasOwn(schema, '$schema')) return [];
      schemas += 1;
      const faults = [...validatorFor(draft, schema), ...danglingRefs(schema)];
      if (faults.length === 0) return [];
      const places = parseDocument(source.text, { logLevel: 'silent' });
      const offsetOf = (path: readonly string[]): number => {
        const node = places.getIn(path, true);
        return isNode(node) ? (node.range?.[0] ?? 0) : 0;
      };
      const hits = faults.flatMap(({ id, path, message }): Hit[] =>
        hitOf(RULES, id, source, {
          ...source.positionAt(offsetOf(path)),
          message: `${RULES[id]?.what}: ${message}.`,
        }),
      );
      return firstOfEach(hits, 5);
    });
    return { ...result, filesSeen: schemas };
  },
};

/** A schema names its draft near the beginning of the file. */
const SCHEMA =
  /"\$schema"\s*:\s*"https?:\/\/json-schema\.org\/(draft-0[467]|draft\/2019-09|draft\/2020-12)\/schema#?"/;
const LOOKED_AT = 2_000;

type JsonObject = Readonly<Record<string, unknown>>;

interface Fault {
  readonly id: keyof typeof RULES;
  readonly path: readonly string[];
  readonly message: string;
}

function jsonIn({ text }: SourceText): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as JsonObject) : {};
  } catch {
    return undefined;
  }
}

/** Keywords whose errors only say that something below failed. */
const GROUPS = new Set(['anyOf', 'oneOf', 'allOf', 'if', 'not']);

/** Makes a validator of schemas against their drafts. Schemas are not compiled, because that turns them into code. */
async function validators(): Promise<(draft: string, schema: JsonObject) => Fault[]> {
  const [{ Ajv }, { Ajv2019 }, { Ajv2020 }, { default: Ajv4 }, { default: draft6 }] = await Promise.all([
    import('ajv'),
    import('ajv/dist/2019.js'),
    import('ajv/dist/2020.js'),
    import('ajv-draft-04'),
    import('ajv/dist/refs/json-schema-draft-06.json', { with: { type: 'json' } }),
  ]);
  const options = { strict: false, allErrors: true, logger: false, validateFormats: false } as const;
  const makers: Readonly<Record<string, readonly [id: string, make: () => InstanceType<typeof Ajv>]>> = {
    'draft-04': ['http://json-schema.org/draft-04/schema', () => new Ajv4.default(options) as never],
    'draft-06': ['http://json-schema.org/draft-06/schema', () => new Ajv(options).addMetaSchema(draft6)],
    'draft-07': ['http://json-schema.org/draft-07/schema', () => new Ajv(options)],
    'draft/2019-09': ['https://json-schema.org/draft/2019-09/schema', () => new Ajv2019(options)],
    'draft/2020-12': ['https://json-schema.org/draft/2020-12/schema', () => new Ajv2020(options)],
  };
  const made = new Map<string, InstanceType<typeof Ajv>>();
  return (draft, schema) => {
    const [id, make] = makers[draft] ?? [];
    if (id === undefined || make === undefined) return [];
    const validator = made.get(draft) ?? make();
    made.set(draft, validator);
    // People mix up http and https.
    if (validator.validateSchema({ ...schema, $schema: id }) !== false) return [];
    const faults = new Map<string, Fault>();
    for (const { instancePath, keyword, message = 'is wrong' } of validator.errors ?? []) {
      if (GROUPS.has(keyword) || faults.has(instancePath)) continue;
      const where = instancePath === '' ? 'the schema' : instancePath;
      faults.set(instancePath, {
        id: 'ajv/not-a-schema',
        path: keysOf(instancePath),
        message: `${where} ${message}`,
      });
    }
    return [...faults.values()];
  };
}

const keysOf = (pointer: string): string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((part) => decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~'));

/** Keywords with data below them, not schemas. */
const DATA = new Set(['enum', 'const', 'default', 'examples', 'example']);

/**
 * Finds references within the document that lead nowhere. A schema with an `$id` of its own is skipped: its references start
 * there.
 */
function danglingRefs(root: JsonObject): Fault[] {
  const faults: Fault[] = [];
  const walk = (value: unknown, path: readonly string[]): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const [key, inner] of Object.entries(value)) {
      const here = [...path, key];
      if (key === '$ref' && typeof inner === 'string' && inner.startsWith('#/') && !leads(inner, root))
        faults.push({ id: 'ajv/dangling-ref', path: here, message: `there is no ${inner}` });
      const isRebased = typeof (inner as JsonObject | null)?.['$id'] === 'string';
      if (!DATA.has(key) && !isRebased) walk(inner, here);
    }
  };
  walk(root, []);
  return faults;
}

function leads(ref: string, root: JsonObject): boolean {
  try {
    let at: unknown = root;
    for (const key of keysOf(ref)) {
      if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return false;
      at = (at as JsonObject)[key];
    }
  } catch {
    // An invalid escape: the target is unknown.
  }
  return true;
}
