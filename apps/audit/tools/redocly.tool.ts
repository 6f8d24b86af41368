import { join, relative, sep } from 'node:path';
import { readSource } from '@orrery/ralph-loop/findings/read-source';
import type { Hit, Tool } from '../tool.ts';
import { isDemo, isSample } from './aside.ts';
import { firstOfEach, hitOf, ruleTable, scanFiles } from './scan-files.ts';

/** Rules about what breaks clients and generators, not about style. */
const RULES = ruleTable('redocly', {
  medium: {
    'no-enum-type-mismatch': 'A value of the enumeration is not of its type',
    'no-identical-paths':
      'Two paths differ in the names of their parameters alone, which OpenAPI forbids; write them as one',
    'no-schema-type-mismatch': 'The schema has properties or items that its type cannot have',
    'no-server-variables-empty-enum': 'A variable of a server may have no value',
    'no-unresolved-refs': 'The reference leads nowhere',
    'operation-operationId-unique': 'Two operations have the same id; generated clients lose one',
    'operation-parameters-unique': 'A parameter is given twice',
    'path-declaration-must-exist': 'A parameter in the path has no name',
    'path-not-include-query': 'A path holds a query; describe it as parameters',
    'path-parameters-defined': 'The path and its parameters do not agree',
    struct: 'The description is not valid',
  },
  low: {
    'no-duplicated-enum-values': 'A value stands twice in an enumeration',
    'no-example-value-and-externalValue': 'An example has both a value and an address',
    'no-mixed-number-range-constraints': 'A number has both an inclusive and an exclusive bound',
    'no-required-schema-properties-undefined': 'A required property is not described',
  },
});

/** Finds descriptions of services that tools refuse or misread. */
export const redocly: Tool = {
  name: 'redocly',
  module: import.meta.url,
  packages: ['@redocly/openapi-core'],
  licence: 'MIT',
  home: 'https://redocly.com/docs/cli',
  replaces: 'nothing: descriptions of services were not read',
  rules: RULES,
  nothing: 'no OpenAPI or AsyncAPI descriptions',
  takes: (file) => /\.(?:ya?ml|json)$/i.test(file) && !isSample(file) && !isDemo(file) && !NEVER.test(file),
  run: async (job, progress) => {
    const { BaseResolver, createConfig, getLineColLocation, lintDocument, makeDocumentFromString, Source } =
      await import('@redocly/openapi-core');
    /** Reads references from the repository only, never from the network. */
    class WithinRepository extends BaseResolver {
      override async loadExternalRef(address: string): Promise<InstanceType<typeof Source>> {
        const file = relative(job.root, address);
        if (/^\w+:\/\//.test(address) || file.startsWith('..')) throw new Error(OUTSIDE);
        const read = readSource(job.root, file);
        if ('skipped' in read) throw new Error(read.reason);
        return new Source(address, read.source.text);
      }
    }
    const ids = Object.keys(RULES).map((id) => id.replace('redocly/', ''));
    const rules = Object.fromEntries(ids.map((id) => [id, 'error']));
    // The object is used as it is; plug-ins and ignore files are searched only beside this path.
    const configPath = join(import.meta.dirname, 'redocly.yaml');
    const config = await createConfig({ extends: [], rules } as never, { configPath });
    let described = 0;
    const result = await scanFiles(job, progress, async ({ file, text }) => {
      if (!DESCRIPTION.test(text.slice(0, LOOKED_AT))) return [];
      described += 1;
      const document = makeDocumentFromString(text, `${job.root}${sep}${file.replaceAll('/', sep)}`);
      const problems = await lintDocument({ document, config, externalRefResolver: new WithinRepository() });
      const hits = problems.flatMap(({ ruleId, message, from, location: [found] }): Hit[] => {
        // If a reference leads to something else than expected, the fault is at the reference.
        const location = from ?? found;
        if (location === undefined || message.includes(OUTSIDE)) return [];
        const { start } = getLineColLocation(location as never);
        const place = { file: relative(job.root, location.source.absoluteRef).replaceAll(sep, '/') };
        const id = `redocly/${ruleId}`;
        const says = `${RULES[id]?.what}: ${message.replace(/\s+/g, ' ').replace(/\.?$/, '.')}`;
        return hitOf(RULES, id, place, {
          line: start.line,
          column: start.col,
          message: says,
          help: `${PAGES}/${ruleId.toLowerCase()}`,
        });
      });
      return firstOfEach(hits);
    });
    return { ...result, filesSeen: described };
  },
};

const OUTSIDE = 'is outside of the repository';
const PAGES = 'https://redocly.com/docs/cli/rules/oas';
const NEVER =
  /(^|\/)(?:package(?:-lock)?|tsconfig[\w.-]*|composer|renovate|biome)\.json$|(^|\/)\.github\/|(?:^|\/)pnpm-lock\.yaml$/;
const LOOKED_AT = 2_000;
const DESCRIPTION = /^\s*(?:\{\s*)?["']?(?:openapi|swagger|asyncapi)["']?\s*:\s*["']?\d/m;
