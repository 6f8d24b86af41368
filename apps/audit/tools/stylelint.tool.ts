import { existsSync } from 'node:fs';
import { join, posix } from 'node:path';
import { readSource } from '@orrery/ralph-loop/findings/read-source';
import type { SourceText } from '@orrery/ralph-loop/findings/source-text';
import type { Hit, Tool } from '../tool.ts';
import { isCopied, isDemo, isSample } from './aside.ts';
import { foldersAbove } from './folders-above.ts';
import { firstOfEach, hitOf, ruleTable, scanFiles } from './scan-files.ts';

/** Rules about what browsers drop, or what cannot be meant; none about style. */
const RULES = ruleTable('stylelint', {
  medium: {
    'annotation-no-unknown': 'An annotation such as !important is misspelt; browsers drop the declaration',
    'at-rule-prelude-no-invalid': 'What follows the name of the at-rule is not valid; browsers drop the rule',
    'color-no-invalid-hex': 'The colour is not valid; browsers drop the declaration',
    'custom-property-no-missing-var-function':
      'A custom property is named without var(); browsers drop the declaration',
    'declaration-block-no-shorthand-property-overrides':
      'The shorthand below undoes the longer property above it',
    'function-calc-no-unspaced-operator':
      'An operator of calc() has no spaces around it; browsers drop the declaration',
    'function-linear-gradient-no-nonstandard-direction':
      'The direction of the gradient is not valid; write "to" before the side',
    'keyframe-declaration-no-important': '!important in an animation makes browsers drop the declaration',
    'media-feature-name-value-no-unknown': 'The media feature has no such value; the query never applies',
    'media-query-no-invalid': 'The media query is not valid; browsers never apply what is in it',
    'named-grid-areas-no-invalid':
      'The grid areas are no rectangles of equal rows; browsers drop the declaration',
    'no-invalid-double-slash-comments': 'CSS has no comments with //; browsers drop what follows',
    'no-invalid-position-at-import-rule':
      'An @import after other rules is dropped by browsers; move it to the top',
    'no-invalid-position-declaration': 'A declaration stands outside of any rule; browsers drop it',
    'property-no-unknown': 'No browser knows the property',
    'selector-anb-no-unmatchable': 'The selector can match nothing',
    'selector-pseudo-class-no-unknown': 'No browser knows the pseudo-class; the whole rule is dropped',
    'selector-pseudo-element-no-unknown': 'No browser knows the pseudo-element; the whole rule is dropped',
    'string-no-newline': 'A string runs over the end of its line',
    'syntax-error': 'The style sheet cannot be parsed',
    'unit-no-unknown': 'No browser knows the unit; the declaration is dropped',
  },
  low: {
    'at-rule-descriptor-no-unknown': 'The at-rule has no such descriptor; browsers drop it',
    'font-family-no-duplicate-names': 'The font is named twice in one list',
    'no-duplicate-at-import-rules': 'The same sheet is imported twice',
  },
});

/** Options that allow templates, and hacks for old browsers. */
const OPTIONS: Readonly<Record<string, readonly unknown[]>> = {
  'property-no-unknown': [
    true,
    {
      checkPrefixed: false,
      ignoreProperties: ['/^[*_-]/', 'composes', 'filter', 'zoom', 'speak', 'behavior'],
    },
  ],
  'selector-pseudo-class-no-unknown': [
    true,
    {
      ignorePseudoClasses: [
        'global',
        'local',
        'deep',
        'slotted',
        'export',
        'import',
        'horizontal',
        'vertical',
        'decrement',
        'increment',
        'start',
        'end',
        'double-button',
        'single-button',
        'no-button',
        'corner-present',
        'window-inactive',
      ],
    },
  ],
  'selector-pseudo-element-no-unknown': [
    true,
    { ignorePseudoElements: ['ng-deep', 'v-deep', 'v-slotted', 'v-global', 'deep', '/^-/'] },
  ],
  'font-family-no-duplicate-names': [true, { ignoreFontFamilyNames: ['monospace'] }],
  'at-rule-prelude-no-invalid': [
    true,
    {
      ignoreAtRules: [
        '-moz-document',
        '/^tailwind/',
        'apply',
        'include',
        'mixin',
        'use',
        'forward',
        'import',
        'theme',
        'source',
        'utility',
        'variant',
        'custom-variant',
        'plugin',
        'config',
      ],
    },
  ],
};

/** Rules that need plain CSS, not the input of a preprocessor. */
const PLAIN_CSS_ONLY = new Set([
  'annotation-no-unknown',
  'at-rule-descriptor-no-unknown',
  'at-rule-prelude-no-invalid',
  'function-calc-no-unspaced-operator',
  'media-query-no-invalid',
  'media-feature-name-value-no-unknown',
  'named-grid-areas-no-invalid',
  'no-invalid-double-slash-comments',
  'no-invalid-position-at-import-rule',
  'no-invalid-position-declaration',
]);

const rulesFor = (isScss: boolean) =>
  Object.fromEntries(
    Object.keys(RULES)
      .map((id) => id.replace('stylelint/', ''))
      .filter((id) => id !== 'syntax-error' && !(isScss && PLAIN_CSS_ONLY.has(id)))
      .map((id) => [id, OPTIONS[id] ?? true]),
  );

/** Finds style sheets that browsers read otherwise than meant. */
export const stylelint: Tool = {
  name: 'stylelint',
  module: import.meta.url,
  packages: ['stylelint', 'postcss-scss'],
  licence: 'MIT',
  home: 'https://stylelint.io',
  replaces: 'the rules responsive.*',
  rules: RULES,
  nothing: 'no style sheets',
  takes: (file) => /\.(?:css|scss)$/i.test(file) && !isSample(file) && !isDemo(file) && !MADE.test(file),
  run: async (job, progress) => {
    const [{ default: linter }, { default: scss }] = await Promise.all([
      import('stylelint'),
      import('postcss-scss'),
    ]);
    const plain = { rules: rulesFor(false) };
    const mixed = { rules: rulesFor(true) };
    const sheetOf = ({ file, text }: SourceText) => {
      if (/\.scss$/i.test(file)) return { ...mixed, customSyntax: scss };
      // Plug-ins of PostCSS allow variables in .css files.
      return /[\s:(]\$[a-z]/i.test(text) ? mixed : plain;
    };
    return scanFiles(job, progress, async (source) => {
      if (isMade(source) || isCopied(source.text) || isCompiled(job.root, source.file)) return [];
      const config = sheetOf(source);
      // Without a file name, stylelint looks for no settings in the repository.
      const { results } = await linter.lint({
        code: source.text,
        config,
        cwd: import.meta.dirname,
        configBasedir: import.meta.dirname,
      });
      const hits = results.flatMap(({ warnings }) => warnings.flatMap((warning) => hit(source, warning)));
      return firstOfEach(hits);
    });
  },
};

/** Files that builds write, and resets, in which later rules are meant to win. */
const MADE =
  /(^|\/)(?:build|built|out|public\/assets)\/|[-.][0-9a-f]{8,}\.css$|(?:^|[/_.-])(?:reset|normalize)[\w.-]*$/i;

/** Whether a sheet is a template, or the output of a preprocessor. */
const isMade = ({ text }: SourceText): boolean =>
  /^---\s|\{\{|\{%|<%|<\?php|\$\{|\/\*# sourceMappingURL=|\/\*! tailwindcss/.test(text);

/** Whether a preprocessor writes the sheet: its source is beside it, or a script names it as output. */
const isCompiled = (root: string, file: string): boolean =>
  /\.css$/i.test(file) &&
  (['scss', 'sass', 'less', 'pcss'].some((ending) => existsSync(join(root, file.replace(/css$/i, ending)))) ||
    foldersAbove(file).some((folder) => {
      const read = readSource(root, join(folder, 'package.json'));
      const scripts = 'source' in read ? read.source.text.replaceAll(' ./', ' ') : '';
      return WRITES.some((before) => scripts.includes(before + posix.relative(folder, file)));
    }));
const WRITES = ['-o ', '--output ', '.scss ', '.sass ', '.scss:', '.sass:'];

interface Warning {
  readonly rule: string;
  readonly line: number;
  readonly column: number;
  readonly text: string;
}

/** Whether a warning is about an intended reset, or a prefixed selector for older browsers. */
function isFallback({ text: sheet }: SourceText, { rule, line, column, text }: Warning): boolean {
  const rest = sheet
    .split('\n')
    .slice(line - 1)
    .join('\n')
    .slice(column - 1);
  if (rule === 'declaration-block-no-shorthand-property-overrides')
    return /^(?:font\s*:\s*inherit|background\s*:[^;{}]*(?:gradient|url|var)\()/.test(rest);
  const name = /^Unknown pseudo-(?:class|element) selector "::?([\w-]+)"/.exec(text)?.[1];
  return name !== undefined && new RegExp(`:-\\w+-${name}\\b`).test(sheet);
}

function hit(source: SourceText, warning: Warning): Hit[] {
  if (isFallback(source, warning)) return [];
  const { rule: id, line, column } = warning;
  const text = warning.text.replace(/ \([\w-]+\)$/, '').replace(/[.]?$/, '.');
  const what = RULES[`stylelint/${id === 'CssSyntaxError' ? 'syntax-error' : id}`]?.what;
  const help = id === 'CssSyntaxError' ? undefined : `https://stylelint.io/user-guide/rules/${id}`;
  return hitOf(RULES, `stylelint/${id === 'CssSyntaxError' ? 'syntax-error' : id}`, source, {
    line,
    column,
    message: `${what}: ${text}`,
    help,
  });
}
