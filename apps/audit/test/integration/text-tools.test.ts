import { describe, expect, it } from 'vitest';
import { actions } from '../../tools/actions.tool.ts';
import { jsonSchema } from '../../tools/ajv.tool.ts';
import { dockerfileUtils } from '../../tools/dockerfile-utils.tool.ts';
import { gherkin } from '../../tools/gherkin.tool.ts';
import { htmlValidate } from '../../tools/html-validate.tool.ts';
import { libpgQuery } from '../../tools/libpg-query.tool.ts';
import { publint } from '../../tools/publint.tool.ts';
import { redocly } from '../../tools/redocly.tool.ts';
import { remark } from '../../tools/remark.tool.ts';
import { stylelint } from '../../tools/stylelint.tool.ts';
import { placesOf, reportHere, reportOn } from '../run-on.ts';

const page = (...lines: string[]): string =>
  [
    '<!doctype html>',
    '<html lang="en">',
    '<head><title>Shop</title></head>',
    '<body>',
    ...lines,
    '</body>',
    '</html>',
    '',
  ].join('\n');

describe('html-validate as a tool', () => {
  it('finds what keeps people from using a page', async () => {
    const report = await reportOn(htmlValidate, {
      'index.html': page(
        '<img src="a.png">',
        '<input type="text">',
        '<a href="/a"></a>',
        '<p id="a">1</p>',
        '<p id="a">2</p>',
        '<div></span></div>',
        '<button></button>',
      ),
    });
    expect(placesOf(report)).toEqual([
      'close-order index.html:10',
      'input-missing-label index.html:6',
      'no-dup-id index.html:9',
      'text-content index.html:11',
      'wcag/h30 index.html:7',
      'wcag/h37 index.html:5',
    ]);
  });

  it('says nothing of templates, of what is silenced, of tests, and of pages that are in order', async () => {
    const wrong = '<img src="a.png">';
    const report = await reportHere(htmlValidate, {
      'src/app.component.html': wrong,
      'views/list.html': '{{#each items}}<img src="{{src}}">{{/each}}',
      'piece.html': '<a></a><a href="#"></a>',
      'src/vue.html': '<img :src="src"><input v-model="name">',
      'test/page.html': page(wrong),
      'quiet.html': page('<!-- [html-validate-disable-next wcag/h37] -->', wrong),
      'good.html': page(
        '<img src="a.png" alt="A cat">',
        '<label>Name <input type="text"></label>',
        '<a href="/">Home</a>',
        '<a href="/cat" title="Cats"><svg></svg></a>',
        '<h2>A <a href="#a" aria-hidden="true">#</a></h2>',
        '<img data-src="b.png" alt="">',
      ),
    });
    expect(report.findings).toEqual([]);
  });
});

describe('html-validate and pages of a kind of their own', () => {
  it('asks no label of a snippet, and no language of a page that sends readers on', async () => {
    const control = '<input type="text">\n<img src="a.png" alt="a" alt="b">\n';
    const sends =
      '<!doctype html><html><head><title>a</title><meta http-equiv="refresh" content="0; url=/b"></head>';
    const report = await reportHere(htmlValidate, {
      'docs/_includes/field.html': control,
      'pieces/field.html': control,
      'docs/index.html': `${sends}<body></body></html>\n`,
      'public/a.html': `${sends}<body>${'much to read '.repeat(20)}</body></html>\n`,
      'docs/cyp/a.html': '<img src="a.png">\n',
      'pieces/words.html':
        '<!doctype html><html><body><h1 data-l10n-id="a"></h1><button></button></body></html>\n',
    });
    expect(placesOf(report).filter((place) => !place.startsWith('meta-refresh'))).toEqual([
      'duplicate-attribute docs/_includes/field.html:2',
      'element-required-attributes public/a.html:1',
      'input-missing-label pieces/field.html:1',
    ]);
  });
});

describe('html-validate and pages to be filled in', () => {
  it('tells of an empty title where the page has a description', async () => {
    const empty = (description: string): string =>
      page('<p>a</p>').replace('Shop</title>', `</title><meta name="description" content="${description}">`);
    const report = await reportHere(htmlValidate, { 'a.html': empty(''), 'b.html': empty('A shop') });
    expect(placesOf(report)).toEqual(['empty-title b.html:3']);
  });
});

describe('stylelint as a tool', () => {
  it('finds what browsers drop', async () => {
    const report = await reportOn(stylelint, {
      'site.css': [
        'a { colr: red; }',
        'b { color: #ggg; }',
        'i { width: 3pixels; }',
        'p::befor { top: 0; }',
        '@media (max-width 3px) { a { top: 0; } }',
        'u { margin-left: 1px; margin: 0; } b { font-size: 1px; font: inherit; }',
        '// no',
        'a { top: 0 }',
      ].join('\n'),
      'broken.css': 'a { color: red;\n',
      'other.scss': '$a: 1px;\n// a comment\na { &:hover { colr: $a; } @media ($a) { top: 0; } }\n',
    });
    expect(placesOf(report)).toEqual([
      'color-no-invalid-hex site.css:2',
      'declaration-block-no-shorthand-property-overrides site.css:6',
      'media-query-no-invalid site.css:5',
      'no-invalid-double-slash-comments site.css:7',
      'property-no-unknown other.scss:3',
      'property-no-unknown site.css:1',
      'selector-pseudo-element-no-unknown site.css:4',
      'syntax-error broken.css:1',
      'unit-no-unknown site.css:3',
    ]);
  });

  it('says nothing of hacks, modules, variables of plug-ins, templates, and of what is silenced', async () => {
    const report = await reportHere(stylelint, {
      'a.css': 'a { *zoom: 1; display: -webkit-box; display: flex; -moz-thing: 1; }\n',
      'a.module.css': ':global(.a) { composes: b; }\n@media (max-width: $small) { a { top: 0; } }\n',
      'tailwind.css': '@tailwind base;\n@layer base { a { @apply p-4; } }\n',
      'view.css': 'a { color: {{ colour }}; }\n',
      'fox.css': '@-moz-document url-prefix() { a { top: 0; } }\n',
      'quiet.css': '/* stylelint-disable-next-line property-no-unknown */\na { colr: red; }\n',
      'built.css': 'a { colr: red; }\n/*# sourceMappingURL=built.css.map */\n',
    });
    expect(report.findings).toEqual([]);
  });
});

describe('stylelint and what is meant', () => {
  it('says nothing of prefixed twins, demonstrations, and of what a preprocessor writes', async () => {
    const wrong = 'a { colr: red; }\n';
    const report = await reportHere(stylelint, {
      'twin.css': 'a::-webkit-input-placeholder { top: 0; }\na::input-placeholder { top: 0; }\n',
      'alone.css': 'a::input-placeholder { top: 0; }\n',
      'examples/a.css': wrong,
      'b.scss': '$a: 1px;\n',
      'b.css': wrong,
      'web/package.json':
        '{ "scripts": { "css": "postcss src/c.css -o ./out.css", "d": "sass d/e.scss d/f.css" } }',
      'web/src/c.css': wrong,
      'web/out.css': wrong,
      'web/d/f.css': wrong,
    });
    expect(placesOf(report)).toEqual([
      'property-no-unknown web/src/c.css:1',
      'selector-pseudo-element-no-unknown alone.css:1',
    ]);
  });
});

describe('remark as a tool', () => {
  it('finds links that lead nowhere', async () => {
    const report = await reportOn(remark, {
      'README.md':
        '# Shop\n\n[a](docs/gone.md)\n[b](#nowhere)\n[c](docs/guide.md#gone)\n\n![e](gone.png)\n[f](100%)\n',
      'docs/guide.md': '# Guide\n\n[up](../README.md)\n\n[x]: https://a.org\n[x]: https://b.org\n',
    });
    expect(placesOf(report)).toEqual([
      'missing-file README.md:3',
      'missing-file README.md:7',
      'missing-file README.md:8',
      'missing-heading README.md:4',
      'missing-heading-in-file README.md:5',
      'no-duplicate-definitions docs/guide.md:6',
    ]);
  });

  it('says nothing of what may be right, and of what is silenced', async () => {
    const report = await reportHere(remark, {
      '.gitignore': 'generated/\n',
      'README.md': [
        '# Shop & more!',
        '[a](#shop--more) [b](#top) <a id="top"></a> [c](docs/guide) [d](docs/guide.html) [e](../../issues)',
        '[f](dist/index.js) [g](generated/a.md) [h](src/a.ts#L10) [i](docs/) [j](https://a.org/b.md#c) `x[0][1]` [k](/page)',
        '[p]({{% param address %}})',
        '- [ ] a task [m](docs/pages.md#own) [n](docs/pages.md#with-npm) [o](docs/pages.md#draft-2020-12)',
        '<!-- lint disable missing-file -->',
        '',
        '[l](gone.md)',
      ].join('\n'),
      'docs/guide.md': '# Guide\n',
      'docs/pages.md': '# A name { #own }\n\n=== "With npm"\n\n## Draft 2020-12 \n',
      'src/a.ts': 'export {};\n',
      'CHANGELOG.md': '[gone](gone.md)\n',
      'benchmark/a.md': '[gone](gone.md)\n',
    });
    expect(report.findings).toEqual([]);
  });
});

describe('remark and what stands in other places', () => {
  it('leaves out headings of larger pages, names with numbers, and definitions that no link has', async () => {
    const report = await reportHere(remark, {
      'a/piece.md': '## A\n\n[a](#gone)\n',
      'a/page.md': '---\ntitle: A\n---\n\n[a](#gone)\n',
      'docs/1.guide/1.index.md': '# A\n\n[a](../pwa.md) [b](../gone.md)\n',
      'docs/80.pwa.md': '# A\n',
      'b.md': '# A\n\n[used] it\n\n[used]: gone.md\n[not]: none.md\n',
      'c.md':
        '# A\n\n[x] [y]\n\n[x]: https://a.org\n[X]: https://a.org\n[y]: https://a.org\n[y]: https://b.org\n',
      'examples/a.md': '# A\n\n[a](gone.md) [b](#gone)\n',
      'a.example.md': '# A\n\n[a](gone.md)\n',
    });
    expect(placesOf(report)).toEqual([
      'missing-file b.md:5',
      'missing-file docs/1.guide/1.index.md:3',
      'missing-heading a/page.md:5',
      'missing-heading examples/a.md:3',
      'no-duplicate-definitions c.md:8',
    ]);
  });
});

describe('remark and pages that a build makes', () => {
  it('reads links from where the page of the same name is, and leaves HTML to whoever makes it', async () => {
    const report = await reportHere(remark, {
      'docs/content/streams.md': '# A\n\n[a](img/a.svg) [b](img/b.svg)\n',
      'docs/streams.html': '<p>A</p>\n',
      'docs/img/a.svg': '<svg/>\n',
      'API.md': '# A\n\n[a](module-a.html)\n',
      'site/index.html': '<script>window.$docsify = {};</script>\n',
      'site/a/b.md': '# A\n\n[a](c/d.md) [b](c/gone.md) [c](#quot-a)\n',
      'site/c/d.md': '# D\n',
    });
    expect(placesOf(report)).toEqual([
      'missing-file docs/content/streams.md:3',
      'missing-file site/a/b.md:3',
    ]);
  });
});

describe('remark in a repository with a checker of links of its own', () => {
  it('says nothing of links that this one is told to leave out', async () => {
    const links = '[a](../cli/a.md)\n[b](b.md)\n';
    const report = await reportHere(remark, {
      '.mlc.toml': '# not from here\nignore-links=["../*"]\n',
      'docs/a.md': links,
      'guide/.markdown-link-check.json': '{ "ignorePatterns": [{ "pattern": "^\\\\.\\\\./cli" }] }',
      'guide/a.md': links,
    });
    expect(placesOf(report)).toEqual(['missing-file docs/a.md:2', 'missing-file guide/a.md:2']);
  });
});

describe('remark in a package as it is installed', () => {
  it('says nothing of files that stayed in the repository', async () => {
    const files = { 'package.json': '{ "files": ["dist"] }', 'README.md': '[a](CONTRIBUTING.md)\n' };
    expect((await reportHere(remark, files)).findings).toEqual([]);
    const report = await reportHere(remark, { ...files, 'yarn.lock': '' });
    expect(placesOf(report)).toEqual(['missing-file README.md:1']);
  });
});

describe('gherkin as a tool', () => {
  it('finds scenarios that do not run as they are written', async () => {
    const report = await reportOn(gherkin, {
      'features/a.feature': [
        'Feature: A',
        '  Scenario: one',
        '  Scenario: two',
        '    Given a',
        '  Scenario: two',
        '    Given b',
        '  Scenario Outline: three',
        '    Given <c>',
        '  Scenario Outline: four',
        '    Given <name> and <age>',
        '    Examples:',
        '      | name |',
        '      | Ann  |',
      ].join('\n'),
      'features/b.feature': 'Feature: B\n  Scenario: one\n    Given a\n    Gven b\n',
    });
    expect(placesOf(report)).toEqual([
      'duplicate-scenario features/a.feature:5',
      'empty-scenario features/a.feature:2',
      'outline-without-examples features/a.feature:7',
      'syntax-error features/b.feature:4',
      'unknown-placeholder features/a.feature:10',
    ]);
  });
});

describe('libpg-query as a tool', () => {
  it('finds what PostgreSQL refuses, and says what it cannot read', async () => {
    const report = await reportOn(libpgQuery, {
      'db/1.sql': 'CREATE TABLE a (id bigint PRIMARY KEY, name text, name text);\n',
      'db/2.sql':
        'ALTER TABLE a ADD COLUMN age int NOT NULL;\nALTER TABLE a ADD COLUMN x int NOT NULL DEFAULT 0;\n',
      'db/mysql.sql': 'CREATE TABLE a (id int AUTO_INCREMENT) ENGINE=InnoDB;\n',
      'db/odd.sql': 'CREATE TABLE TABLE;\n',
      'db/wide.sql': 'CREATE TABLE a (id LowCardinality(String)) ENGINE = MergeTree ORDER BY id;\n',
    });
    expect(placesOf(report)).toEqual(['duplicate-column db/1.sql:1', 'not-null-without-default db/2.sql:1']);
    expect(report.notes.map(({ kind, file }) => [kind, file])).toEqual([
      ['not-looked-at', 'db/mysql.sql'],
      ['unparsable', 'db/odd.sql'],
      ['not-looked-at', 'db/wide.sql'],
    ]);
    expect(report.notes.at(-1)?.reason).toContain('ClickHouse');
  });

  it('asks for a default in the newest migration alone, and not where the table is empty or Prisma has warned', async () => {
    const added = 'ALTER TABLE a ADD COLUMN age int NOT NULL;\n';
    const report = await reportHere(libpgQuery, {
      'migrations/9_age/up.sql': added,
      'migrations/10_age/up.sql': added,
      'web/migrations/1.sql': `TRUNCATE a;\n${added}`,
      'api/migrations/1.sql': `/*\n  Warnings:\n\n  - This is not possible if the table is not empty.\n*/\n${added}`,
    });
    expect(placesOf(report)).toEqual(['not-null-without-default migrations/10_age/up.sql:1']);
  });
});

const OPENAPI = `openapi: 3.0.3
info: { title: Shop, version: '1' }
paths:
  /a/{id}:
    get:
      operationId: same
      responses: { '200': { description: ok, content: { application/json: { schema: { $ref: '#/components/schemas/Gone' } } } } }
  /b:
    get:
      operationId: same
      responsess: {}
  /c:
    get:
      operationId: c
      responses: { '200': { $ref: 'https://elsewhere.example/responses.yaml#/ok' } }
  /d:
    get:
      operationId: d
      responses: { '200': { $ref: './shared.yaml#/ok' } }
`;

describe('redocly as a tool', () => {
  it('finds what clients cannot read, and fetches nothing', async () => {
    const report = await reportOn(redocly, {
      'api/openapi.yaml': OPENAPI,
      'api/shared.yaml': 'ok: { description: ok }\n',
      'other.yaml': 'a: 1\n',
      'data.json': '{ "paths": 1 }',
    });
    expect(placesOf(report)).toEqual([
      'no-unresolved-refs api/openapi.yaml:7',
      'operation-operationId-unique api/openapi.yaml:10',
      'path-parameters-defined api/openapi.yaml:5',
      'struct api/openapi.yaml:11',
      'struct api/openapi.yaml:9',
    ]);
  });
});

describe('redocly and references', () => {
  it('tells of the reference that leads to something of another kind', async () => {
    const report = await reportHere(redocly, {
      'openapi.yaml': `openapi: 3.0.3
info: { title: Shop, version: '1' }
paths:
  /a:
    get:
      responses:
        '401':
          description: no
          content:
            application/json:
              schema:
                $ref: '#/components/responses/No'
components:
  responses:
    'No':
      description: no
      content: {}
`,
    });
    expect(placesOf(report)).toEqual(['struct openapi.yaml:12']);
  });
});

describe('ajv as a tool', () => {
  it('finds schemas that validators refuse, in the draft that they name', async () => {
    const schema = (draft: string, rest: object): string =>
      JSON.stringify({ $schema: `http://json-schema.org/${draft}/schema#`, ...rest }, undefined, 2);
    const report = await reportOn(jsonSchema, {
      'schema/a.json': schema('draft-07', {
        type: 'strin',
        properties: { a: { $ref: '#/definitions/gone' } },
      }),
      'schema/b.json': schema('draft/2020-12', { $defs: { a: { type: 'string' } }, $ref: '#/$defs/a' }),
      'schema/c.json': schema('draft-04', { required: true }),
      'schema/d.json': '{ "$schema": "http://json-schema.org/draft-07/schema#", ',
      'data.json': '{ "type": "strin" }',
    });
    expect(placesOf(report)).toEqual([
      'dangling-ref schema/a.json:6',
      'not-a-schema schema/a.json:3',
      'not-a-schema schema/c.json:3',
      'not-json schema/d.json:1',
    ]);
  });
});

const WORKFLOW = `on: { issues: {}, push: {} }
jobs:
  greet:
    runs-on: ubuntu-latest
    needs: gone
    steps:
      - run: echo "\${{ github.event.issue.title }}"
      - runn: echo
      - if: github.ref = 'x'
        run: echo "\${{ github.sha }}"
      - run: echo "$TITLE"
        env: { TITLE: "\${{ github.event.issue.title }}" }
`;

describe('the workflow tool', () => {
  it('finds what GitHub refuses, and scripts that strangers may write', async () => {
    const report = await reportOn(actions, {
      '.github/workflows/greet.yml': WORKFLOW,
      'other.yml': 'on: psh\n',
    });
    expect(placesOf(report)).toEqual([
      'invalid .github/workflows/greet.yml:3',
      'invalid .github/workflows/greet.yml:5',
      'invalid .github/workflows/greet.yml:8',
      'invalid .github/workflows/greet.yml:9',
      'script-injection .github/workflows/greet.yml:7',
    ]);
  });

  it('tells of scripts of forks as less, and not of jobs that take none', async () => {
    const script = `    steps:\n      - run: echo \${{ github.event.pull_request.title }}\n    runs-on: ubuntu-latest\n`;
    const report = await reportHere(actions, {
      '.github/workflows/a.yml': `on: [pull_request, push]\njobs:\n  own:\n    if: github.event.pull_request.head.repo.full_name == github.repository\n${script}  all:\n${script}`,
    });
    expect(placesOf(report)).toEqual(['script-injection-of-forks .github/workflows/a.yml:10']);
  });

  it('says nothing of what only people with rights can start', async () => {
    const text = WORKFLOW.replace('issues: {}, ', '').replace(/ {4}needs.*\n|.*runn.*\n|.*- if.*\n.*\n/g, '');
    expect((await reportHere(actions, { '.github/workflows/a.yml': text })).findings).toEqual([]);
  });
});

describe('dockerfile-utils as a tool', () => {
  it('finds instructions that Docker refuses or drops', async () => {
    const report = await reportOn(dockerfileUtils, {
      Dockerfile:
        "FROM node:26\nCOPY a\nFOO b\nRUN <<END\necho b\nEND\nCOPY --parents a b /c/\nCMD ['a']\nCMD a\n",
      'good.dockerfile':
        'ARG BASE=node:26\nFROM $BASE AS build\nRUN --mount=type=cache,target=/a npm ci\nHEALTHCHECK CMD curl a\n',
      'templates/Dockerfile': 'FOO {{ bar }}\n',
    });
    expect(placesOf(report)).toEqual([
      'argument-requires-at-least-two Dockerfile:2',
      'json-in-single-quotes Dockerfile:8',
      'multiple-instructions Dockerfile:8',
      'unknown-instruction Dockerfile:3',
    ]);
  });
});

describe('publint as a tool', () => {
  it('finds packages that do not work for others, and starts no package manager', async () => {
    const manifest = {
      name: 'shop',
      version: '1.0.0',
      main: './index.js',
      exports: { '.': { default: './index.js', types: './index.d.ts' }, './built': './dist/built.js' },
      dependencies: { other: 'file:../other' },
      scripts: { prepack: 'exit 1' },
    };
    const report = await reportOn(publint, {
      'package.json': JSON.stringify(manifest, undefined, 2),
      'index.js': 'module.exports = 1;\n',
      'index.d.ts': 'export {};\n',
      'apps/web/package.json': JSON.stringify({ ...manifest, private: true }),
      'apps/try/package.json': JSON.stringify({
        name: 'try',
        version: '1.0.0',
        dependencies: { shop: 'file:../..' },
      }),
    });
    expect(placesOf(report)).toEqual([
      'exports-default-should-be-last package.json:7',
      'exports-types-should-be-first package.json:8',
      'local-dependency package.json:13',
    ]);
  });

  it('tells of CommonJS in a package of modules, and not of modules that Node finds out about', async () => {
    const manifest = { name: 'shop', version: '1.0.0', exports: './index.js' };
    const report = await reportHere(publint, {
      'packages/a/package.json': JSON.stringify({ ...manifest, type: 'module' }, undefined, 2),
      'packages/a/index.js': 'module.exports = 1;\n',
      'packages/b/package.json': JSON.stringify(manifest, undefined, 2),
      'packages/b/index.js': 'export default 1;\n',
    });
    expect(placesOf(report)).toEqual(['file-invalid-format packages/a/package.json:4']);
  });
});
