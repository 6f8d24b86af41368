import type { Severity } from '@orrery/ralph-loop';
import type { SourceText } from '@orrery/ralph-loop/findings/source-text';
import type { Tool } from '../tool.ts';
import { isSample } from './aside.ts';
import { firstOfEach, hitOf, scanFiles } from './scan-files.ts';

const rule = (severity: Severity, what: string) => ({ severity, what });

/** What keeps somebody from using a page, and what a browser reads otherwise than it was meant. */
const RULES: Tool['rules'] = {
  'html-validate/area-alt': rule(
    'medium',
    'A part of an image map has no text; screen readers read out its address',
  ),
  'html-validate/aria-hidden-body': rule('medium', 'The whole page is hidden from screen readers'),
  'html-validate/close-order': rule(
    'medium',
    'An element is closed that is not open, or left open; browsers guess where it ends',
  ),
  'html-validate/duplicate-attribute': rule(
    'medium',
    'The attribute is given twice; browsers take the first',
  ),
  'html-validate/element-required-attributes': rule('medium', 'The element lacks an attribute that it needs'),
  'html-validate/empty-heading': rule('low', 'A heading has no text; screen readers announce nothing'),
  'html-validate/empty-title': rule('low', 'The page has no title; give it one'),
  'html-validate/form-dup-name': rule('low', 'Two controls of a form have the same name'),
  'html-validate/hidden-focusable': rule(
    'low',
    'What is hidden from screen readers takes the focus of the keyboard',
  ),
  'html-validate/input-missing-label': rule(
    'medium',
    'The control has no label; screen readers cannot say what it is for',
  ),
  'html-validate/map-dup-name': rule('medium', 'Two image maps have the same name; only the first is used'),
  'html-validate/meta-refresh': rule('low', 'The page reloads by itself while somebody may be reading it'),
  'html-validate/multiple-labeled-controls': rule(
    'low',
    'A label holds several controls; it names only the first',
  ),
  'html-validate/no-abstract-role': rule('medium', 'The role is abstract; screen readers do not know it'),
  'html-validate/no-dup-id': rule(
    'medium',
    'Two elements have the same id; links and labels find only the first',
  ),
  'html-validate/no-missing-references': rule(
    'medium',
    'The attribute names an id that the page does not have',
  ),
  'html-validate/no-multiple-main': rule('low', 'The page has several main elements'),
  'html-validate/text-content': rule('medium', 'The element has no text that a screen reader could say'),
  'html-validate/void-content': rule(
    'medium',
    'The element may have no end tag; browsers drop it, or make an element of it',
  ),
  'html-validate/wcag/h30': rule('medium', 'The link has no text; screen readers read out its address'),
  'html-validate/wcag/h36': rule('medium', 'The button of an image has no text'),
  'html-validate/wcag/h37': rule(
    'medium',
    'The image has no text; give it an alt, an empty one if it is for decoration',
  ),
};
/** By their own names, where those differ. */
const OWN_NAMES: Readonly<Record<string, string>> = { 'duplicate-attribute': 'no-dup-attr' };

/** Pages that people cannot use, and markup that browsers mend by guessing. */
export const htmlValidate: Tool = {
  name: 'html-validate',
  module: import.meta.url,
  packages: ['html-validate'],
  licence: 'MIT',
  home: 'https://html-validate.org',
  replaces: 'the rules accessibility.* on HTML',
  rules: RULES,
  nothing: 'no HTML',
  takes: (file) => /\.html?$/i.test(file) && !NOT_FOR_PEOPLE.test(file) && !isSample(file),
  run: async (job, progress) => {
    const { HtmlValidate, StaticConfigLoader } = await import('html-validate/browser');
    const ids = Object.keys(RULES).map((id) => id.replace('html-validate/', ''));
    const ours = new Map(ids.map((id) => [OWN_NAMES[id] ?? id, `html-validate/${id}`]));
    const rules = Object.fromEntries([...ours.keys()].map((id) => [id, 'error']));
    // Its own loader of files reads configuration beside each of them; this one knows only ours.
    const validator = new HtmlValidate(
      new StaticConfigLoader({ root: true, extends: [], elements: ['html5'], plugins: [], rules } as never),
    );
    const seen = new Set<string>();
    return scanFiles(job, progress, async (source) => {
      if (isTemplate(source)) return [];
      const report = await validator.validateString(source.text, source.file);
      const hits = report.results.flatMap(({ messages }) =>
        messages.flatMap(({ ruleId, line, column, offset, message, ruleUrl }) => {
          const id = ours.get(ruleId) ?? ruleId;
          // Some rules point at the element, others at one of its attributes.
          const start = Math.max(0, source.text.lastIndexOf('<', offset));
          const tag = source.text.slice(start, start + LOOKED_AT);
          if (isMeant(id, tag) || HARMLESS.test(message)) return [];
          // A header that stands in every page is one header.
          const same = `${id} ${source.line(line)?.trim()}`;
          if (seen.has(same)) return [];
          seen.add(same);
          const says = `${RULES[id]?.what}. (${message})`;
          return hitOf(RULES, id, source, { line, column, message: says, help: ruleUrl });
        }),
      );
      return firstOfEach(hits);
    });
  },
};

/** A title is a name, too, if not a good one; and the mark beside a heading that links to it is hidden on purpose. */
const isMeant = (id: string, tag: string): boolean =>
  (NAMELESS.has(id) && TITLED.test(tag)) || (id === 'html-validate/hidden-focusable' && IN_PAGE.test(tag));

/** Sources that scripts fill in, and a < before a digit, which browsers show as it stands. */
const HARMLESS = /required "src" attribute|'<\/?[^a-z/]/i;
const NAMELESS = new Set(
  ['input-missing-label', 'text-content', 'wcag/h30'].map((id) => `html-validate/${id}`),
);
const TITLED = /^<[^<>]*\stitle\s*=\s*["']?[^"'\s>]/;
const IN_PAGE = /^<a\s[^<>]*href\s*=\s*["']?#/;
const LOOKED_AT = 1_000;

/** Pages of tests, and what programs write: reports and reference pages. */
const NOT_FOR_PEOPLE =
  /(^|\/)(?:tests?|__tests__|e2e|specs?|coverage|lcov-report|javadoc|typedoc|_site|storybook-static|playwright-report)\//i;

/** What is filled in before a browser sees it: by a server, by Angular, Vue, Svelte, Alpine, or by a build. */
const isTemplate = ({ text, file }: SourceText): boolean =>
  /\.component\.html$/i.test(file) ||
  /\{\{|\{%|<%|<\?(?!xml)|\$\{|\[\[|#\{|\s(?:\*ng\w+|\[\w[\w.-]*\]|\(\w[\w.]*\)|v-\w+|:\w[\w-]*|@\w[\w.:-]*|x-\w+|ng-\w+|th:\w+|data-bind)\s*=|@@\w|<\/?(?:ng-|svelte:)|\{#(?:if|each)/i.test(
    text,
  );
