/** A little of everything that a tool may take. Nothing in it is wrong on purpose. */
export const SAMPLES: Readonly<Record<string, string>> = {
  'package.json': '{ "name": "sample", "version": "1.0.0", "type": "module", "main": "src/index.ts" }',
  'src/index.ts': "import { one } from './one.ts';\n\nexport const two = one + 1;\n",
  'src/one.ts': 'export const one = 1;\n',
  'src/page.tsx': 'export const Page = () => <main>Hello</main>;\n',
  'src/old.js': 'module.exports = { three: 3 };\n',
  'test/one.test.ts':
    "import { expect, it } from 'vitest';\nimport { one } from '../src/one.ts';\n\nit('is one', () => expect(one).toBe(1));\n",
  'style.css': 'a { color: red; }\n',
  'style.scss': 'a { b { color: red; } }\n',
  'index.html':
    '<!doctype html>\n<html lang="en">\n<head><title>Sample</title></head>\n<body><p>Hello</p></body>\n</html>\n',
  'README.md': '# Sample\n\nHello.\n',
  'docs/guide.md': '# Guide\n\nSee [the sample](../README.md).\n',
  'schema.sql': 'CREATE TABLE people (id bigint PRIMARY KEY);\n',
  'migrations/0001_people.sql': 'CREATE TABLE more_people (id bigint PRIMARY KEY);\n',
  'schema.json': '{ "$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object" }\n',
  'openapi.yaml':
    "openapi: 3.1.0\ninfo: { title: Sample, version: '1' }\npaths:\n  /:\n    get:\n      responses:\n        '200': { description: Hello }\n",
  'features/hello.feature':
    'Feature: Hello\n\n  Scenario: One\n    Given one\n    When two\n    Then three\n',
  '.github/workflows/check.yml':
    'name: check\non: push\npermissions: {}\njobs:\n  check:\n    runs-on: ubuntu-24.04\n    steps:\n      - run: echo hello\n',
  Dockerfile: 'FROM node:26.10.0\nUSER node\nCMD ["node", "src/old.js"]\n',
};
