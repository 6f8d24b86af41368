import { join, relative, sep } from 'node:path';
import type { Severity } from '@orrery/ralph-loop';
import { readSource } from '@orrery/ralph-loop/findings/read-source';
import type { Hit, Tool } from '../tool.ts';
import { isSample } from './aside.ts';
import { firstOfEach, hitOf, scanFiles } from './scan-files.ts';

const rule = (severity: Severity, what: string) => ({ severity, what });

/** What breaks clients and generators, not how a description should read. */
const RULES: Tool['rules'] = {
  'redocly/no-duplicated-enum-values': rule('low', 'A value stands twice in an enumeration'),
  'redocly/no-enum-type-mismatch': rule('medium', 'A value of the enumeration is not of its type'),
  'redocly/no-example-value-and-externalValue': rule('low', 'An example has both a value and an address'),
  'redocly/no-identical-paths': rule(
    'medium',
    'Two paths differ in the names of their parameters alone; one is never reached',
  ),
  'redocly/no-invalid-media-type-examples': rule('low', 'The example does not fit its schema'),
  'redocly/no-invalid-parameter-examples': rule('low', 'The example does not fit its schema'),
  'redocly/no-invalid-schema-examples': rule('low', 'The example does not fit its schema'),
  'redocly/no-mixed-number-range-constraints': rule(
    'low',
    'A number has both an inclusive and an exclusive bound',
  ),
  'redocly/no-required-schema-properties-undefined': rule('low', 'A required property is not described'),
  'redocly/no-schema-type-mismatch': rule(
    'medium',
    'The schema has properties or items that its type cannot have',
  ),
  'redocly/no-server-variables-empty-enum': rule('medium', 'A variable of a server may have no value'),
  'redocly/no-undefined-server-variable': rule(
    'medium',
    'The address of a server has a variable that is not described',
  ),
  'redocly/no-unresolved-refs': rule('medium', 'The reference leads nowhere'),
  'redocly/operation-operationId-unique': rule(
    'medium',
    'Two operations have the same id; generated clients lose one',
  ),
  'redocly/operation-parameters-unique': rule('medium', 'A parameter is given twice'),
  'redocly/path-declaration-must-exist': rule('medium', 'A parameter in the path has no name'),
  'redocly/path-not-include-query': rule('medium', 'A path holds a query; describe it as parameters'),
  'redocly/path-parameters-defined': rule('medium', 'The path and its parameters do not agree'),
  'redocly/struct': rule('medium', 'The description is not valid'),
};

/** Descriptions of services that tools refuse, or read otherwise than they were meant. */
export const redocly: Tool = {
  name: 'redocly',
  module: import.meta.url,
  packages: ['@redocly/openapi-core'],
  licence: 'MIT',
  home: 'https://redocly.com/docs/cli',
  replaces: 'nothing: descriptions of services were not read',
  rules: RULES,
  nothing: 'no OpenAPI or AsyncAPI descriptions',
  takes: (file) => /\.(?:ya?ml|json)$/i.test(file) && !isSample(file) && !NEVER.test(file),
  run: async (job, progress) => {
    const { BaseResolver, createConfig, getLineColLocation, lintDocument, makeDocumentFromString, Source } =
      await import('@redocly/openapi-core');
    /** What a description refers to is read from the repository alone: no network, nothing outside. */
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
    // An object is taken as it is; plug-ins and lists of what to ignore are looked for beside this file alone.
    const configPath = join(import.meta.dirname, 'redocly.yaml');
    const config = await createConfig({ extends: [], rules } as never, { configPath });
    let described = 0;
    const result = await scanFiles(job, progress, async ({ file, text }) => {
      if (!DESCRIPTION.test(text.slice(0, LOOKED_AT))) return [];
      described += 1;
      const document = makeDocumentFromString(text, `${job.root}${sep}${file.replaceAll('/', sep)}`);
      const problems = await lintDocument({ document, config, externalRefResolver: new WithinRepository() });
      const hits = problems.flatMap(({ ruleId, message, location: [location] }): Hit[] => {
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
