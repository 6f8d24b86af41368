import { describe, expect, it } from 'vitest';
import { jsxAccessibility } from '../../tools/oxlint-jsx-a11y.tool.ts';
import { codeFromText } from '../../tools/oxlint-code-from-text.tool.ts';
import { placesIn, reportHere } from '../run-on.ts';

const EVAL = 'export const run = (text) => eval(text);\n';
const IMAGE = 'export const A = () => <img src="a.png" />;\n';

const OFF: readonly (readonly [file: string, text: string])[] = [
  ['.eslintrc', '{ "rules": { "no-eval": 0 } }'],
  ['.eslintrc.yml', 'rules:\n  semi: error\n  no-eval: off\n'],
  ['.eslintrc.cjs', "module.exports = { rules: { 'no-eval': ['off'] } };"],
  ['eslint.config.js', "export default [{ files: ['**/*.{js,ts}'], rules: { 'security/no-eval': 'off' } }];"],
  ['.oxlintrc.json', '{ "rules": { "eslint/no-eval": "off" } }'],
  ['package.json', '{ "eslintConfig": { "rules": { "no-eval": "off" } } }'],
  ['biome.jsonc', '{ "linter": { "rules": { "security": { "noGlobalEval": { "level": "off" } } } } }'],
];

const ON: readonly (readonly [file: string, text: string])[] = [
  ['.eslintrc.json', '{ "overrides": [{ "files": ["*.js"], "rules": { "no-eval": "off" } }] }'],
  ['.eslintrc.yaml', 'overrides:\n  - files: b.js\n    rules:\n      no-eval: off\nroot: true\n'],
  ['eslint.config.mjs', "export default [{ files: ['test/**'], rules: { 'no-eval': 'off' } }];"],
  ['eslint.config.ts', "// 'no-eval': 'off'\nexport default [{ rules: { 'no-eval': 'error' } }];"],
  ['biome.json', '{ "linter": { "rules": { "suspicious": { "noEvalish": "off" } } } }'],
];

describe('rules that a repository has switched off', () => {
  it.each(OFF)('are not told of: %s', async (file, text) => {
    expect((await reportHere(codeFromText, { [file]: text, 'src/a.js': EVAL })).findings).toEqual([]);
  });

  it.each(ON)('are told of where they are on, or off for some files: %s', async (file, text) => {
    const report = await reportHere(codeFromText, { [file]: text, 'src/a.js': EVAL });
    expect(placesIn(report)).toEqual(['oxlint/no-eval src/a.js:1']);
  });

  it('are those of the nearest configuration that names them', async () => {
    const report = await reportHere(codeFromText, {
      '.eslintrc.json': '{ "rules": { "no-eval": "off" } }',
      'src/.eslintrc.json': '{ "rules": { "no-eval": "error" } }',
      'a.js': EVAL,
      'src/a.js': EVAL,
    });
    expect(placesIn(report)).toEqual(['oxlint/no-eval src/a.js:1']);
  });

  it('may be a whole group of biome', async () => {
    for (const group of ['"off"', '{ "recommended": false }']) {
      const text = `{ "linter": { "rules": { "a11y": ${group} } } }`;
      expect((await reportHere(jsxAccessibility, { 'biome.json': text, 'a.tsx': IMAGE })).findings).toEqual(
        [],
      );
    }
  });
});
