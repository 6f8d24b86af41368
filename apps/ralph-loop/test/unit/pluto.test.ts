import fc from 'fast-check';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ProgressCounter } from '../../audit/progress-counter.ts';
import { SCHEMA_RULES } from '../../audit/schemas/rules.ts';
import { checkSchemas } from '../../audit/schemas/schema-check.ts';
import { sqlStatements } from '../../audit/schemas/sql-statements.ts';
import { fixturePath, plantedIn, spotsOf, TemporaryFolder } from './fixture.ts';

const check = (root: string) => checkSchemas(root, new ProgressCounter());

async function checkFiles(files: Readonly<Record<string, string>>) {
  using repo = new TemporaryFolder();
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(repo.path, file)), { recursive: true });
    writeFileSync(join(repo.path, file), text);
  }
  return await check(repo.path);
}

describe('PLUTO', () => {
  it('finds everything that is planted, and no decoy', async () => {
    const root = fixturePath('pluto');
    const { findings, notes } = await check(root);
    expect(new Set(plantedIn(root).map((spot) => spot.split(' ')[0]))).toEqual(
      new Set(Object.keys(SCHEMA_RULES)),
    );
    expect(spotsOf(findings)).toEqual(plantedIn(root));
    expect(notes).toEqual([
      { kind: 'unparsable', file: 'other/mysql.sql', reason: 'is written for MySQL, which is not looked at' },
      {
        kind: 'unparsable',
        file: 'other/template.sql',
        reason: '1 of 4 statements about tables are neither PostgreSQL nor SQLite',
      },
    ]);
  });

  it('finds statements whatever stands in them', () => {
    const word = fc.constantFrom(
      'create',
      'e',
      '$',
      '$1',
      "''",
      "E'\\''",
      '"a""b"',
      '/',
      '-',
      '*',
      '(',
      'ä😀',
    );
    const quoted = fc.constantFrom(
      "';'",
      '";"',
      '`;`',
      '$$;$$',
      '$a$ ; $$ ; $a$',
      "E'\\';'",
      '/* ; /* ; */ */',
      "-- ; '\n",
      "'it''s;'",
    );
    const statement = fc
      .array(fc.oneof(word, quoted), { minLength: 1, maxLength: 8 })
      .map((parts) => `select ${parts.join(' ')} end`);
    const blank = fc.constantFrom('', ' ', '\n', '-- ; "\n', '/* ; */ ', '\n\\connect shop;\n');
    const file = fc.array(fc.tuple(blank, statement), { maxLength: 6 });
    fc.assert(
      fc.property(file, (parts) => {
        const text = parts.map(([before, one]) => `${before}${one};`).join('');
        const found = [...sqlStatements(text)];
        expect(found.map((one) => one.text)).toEqual(parts.map(([, one]) => one));
        for (const { text: one, start } of found) expect(text.slice(start, start + one.length)).toBe(one);
      }),
      { numRuns: 500 },
    );
  });

  it('passes over the data of COPY', () => {
    const text = 'COPY a (b) FROM stdin;\n1;2\nselect 3;\n\\.\nselect 4;\nCOPY c FROM stdin;\n5;';
    expect([...sqlStatements(text)].map((one) => one.text)).toEqual([
      'COPY a (b) FROM stdin',
      'select 4',
      'COPY c FROM stdin',
    ]);
  });

  it('counts places in characters, though the parser counts bytes', async () => {
    const { findings } = await checkFiles({
      'a.sql': "CREATE TABLE ä (größe text DEFAULT '😀' PRIMARY KEY, ü int REFERENCES ö (id));",
    });
    expect(findings).toMatchObject([{ rule: 'schema.foreign-key-without-index', line: 1, column: 60 }]);
  });

  it.each(['1.sql', '3.sql'])('takes the key and the index that %s adds into account', async (other) => {
    const tables = 'CREATE TABLE a (id int);\nCREATE TABLE b (id int PRIMARY KEY, a int REFERENCES a (id));';
    const lacking = await checkFiles({ '2.sql': tables });
    expect(lacking.findings.map(({ rule }) => rule)).toEqual([
      'schema.no-primary-key',
      'schema.foreign-key-without-index',
    ]);
    const keys = 'ALTER TABLE a ADD PRIMARY KEY (id);\nCREATE INDEX b_a ON b (a);';
    expect((await checkFiles({ '2.sql': tables, [other]: keys })).findings).toEqual([]);
  });

  it('shows as many tables of one file as MERCURY finds again', async () => {
    const { findings, notes } = await checkFiles({
      'many.sql': 'CREATE TABLE a (b int);\nDROP TABLE IF EXISTS c;\n',
    });
    expect([findings.length, notes]).toEqual([1, []]);
    const tables = Array.from({ length: 700 }, (_, index) => `CREATE TABLE t${index} (a int);`).join('\n');
    const many = await checkFiles({ 'many.sql': tables });
    expect(many.findings).toHaveLength(500);
    expect(many.notes).toMatchObject([{ kind: 'findings-left-out', file: 'many.sql' }]);
  });

  it('survives statements that are nothing but nesting', async () => {
    const { findings, notes } = await checkFiles({
      'a.sql': `CREATE VIEW a AS SELECT ${'('.repeat(50_000)};\nCREATE VIEW b AS SELECT 1${'+1'.repeat(50_000)};\nCREATE TABLE c (d int);`,
      'a.json': `{"$schema": "http://json-schema.org/draft-07/schema#", "a": ${'{"not":'.repeat(50_000)}{}${'}'.repeat(50_001)}`,
    });
    expect(spotsOf(findings)).toEqual(['schema.no-primary-key a.sql:3']);
    expect(notes).toMatchObject([
      { kind: 'unparsable', file: 'a.json' },
      {
        kind: 'unparsable',
        file: 'a.sql',
        reason: '2 of 3 statements about tables are neither PostgreSQL nor SQLite',
      },
    ]);
  });

  it.each([
    ['draft-04', '"exclusiveMinimum": true, "minimum": 1', '"exclusiveMinimum": 1, "minimum": 1'],
    ['draft-06', '"const": 1', '"required": "a"'],
    ['draft-07', '"if": {}', '"if": []'],
    ['draft/2019-09', '"dependentRequired": {}', '"dependentRequired": []'],
    ['draft/2020-12', '"prefixItems": [{}]', '"prefixItems": []'],
  ])('holds a schema against %s', async (draft, right, wrong) => {
    const schema = (words: string) => `{\n"$schema": "https://json-schema.org/${draft}/schema",\n${words}\n}`;
    expect((await checkFiles({ 'a.json': schema(right) })).findings).toEqual([]);
    expect((await checkFiles({ 'a.json': schema(wrong) })).findings).toMatchObject([
      { rule: 'schema.not-a-schema', line: 3 },
    ]);
  });

  it('looks at no tests, and says that there is nothing else', async () => {
    const { findings, notes } = await checkFiles({ 'test/a.sql': 'CREATE TABLE a (b int);' });
    expect([findings, notes]).toMatchObject([[], [{ kind: 'empty' }]]);
  });
});
