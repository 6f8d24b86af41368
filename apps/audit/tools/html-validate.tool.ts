import type { SourceText } from '@orrery/ralph-loop/findings/source-text';
import type { Tool } from '../tool.ts';
import { isDemo, isOfDocs, isSample, isTest } from './aside.ts';
import { firstOfEach, hitOf, ruleTable, scanFiles } from './scan-files.ts';

/** Rules about what keeps people from using a page, and what browsers read otherwise than meant. */
const RULES = ruleTable('html-validate', {
  medium: {
    'area-alt': 'A part of an image map has no text; screen readers read out its address',
    'aria-hidden-body': 'The whole page is hidden from screen readers',
    'close-order': 'An element is closed that is not open, or left open; browsers guess where it ends',
    'duplicate-attribute': 'The attribute is given twice; browsers take the first',
    'element-required-attributes': 'The element lacks an attribute that it needs',
    'input-missing-label': 'The control has no label; screen readers cannot say what it is for',
    'map-dup-name': 'Two image maps have the same name; only the first is used',
    'no-abstract-role': 'The role is abstract; screen readers do not know it',
    'no-dup-id': 'Two elements have the same id; links and labels find only the first',
    'no-missing-references': 'The attribute names an id that the page does not have',
    'text-content': 'The element has no text that a screen reader could say',
    'void-content': 'The element may have no end tag; browsers drop it, or make an element of it',
    'wcag/h30': 'The link has no text; screen readers read out its address',
    'wcag/h36': 'The button of an image has no text',
    'wcag/h37': 'The image has no text; give it an alt, an empty one if it is for decoration',
  },
  low: {
    'empty-heading': 'A heading has no text; screen readers announce nothing',
    'empty-title': 'The page has no title; give it one',
    'form-dup-name': 'Two controls of a form have the same name',
    'hidden-focusable': 'What is hidden from screen readers takes the focus of the keyboard',
    'meta-refresh': 'The page reloads by itself while somebody may be reading it',
    'multiple-labeled-controls': 'A label holds several controls; it names only the first',
    'no-multiple-main': 'The page has several main elements',
  },
});
/** html-validate's names of rules, where they differ from ours. */
const OWN_NAMES: Readonly<Record<string, string>> = { 'duplicate-attribute': 'no-dup-attr' };

/** Finds pages that people cannot use, and markup that browsers repair by guessing. */
export const htmlValidate: Tool = {
  name: 'html-validate',
  module: import.meta.url,
  packages: ['html-validate'],
  licence: 'MIT',
  home: 'https://html-validate.org',
  replaces: 'the rules accessibility.* on HTML',
  rules: RULES,
  nothing: 'no HTML',
  takes: (file) =>
    /\.html?$/i.test(file) && !isTest(file) && !isSample(file) && !isDemo(file) && !REPORTS.test(file),
  run: async (job, progress) => {
    const { HtmlValidate, StaticConfigLoader } = await import('html-validate/browser');
    const ids = Object.keys(RULES).map((id) => id.replace('html-validate/', ''));
    const ours = new Map(ids.map((id) => [OWN_NAMES[id] ?? id, `html-validate/${id}`]));
    const rules = Object.fromEntries([...ours.keys()].map((id) => [id, 'error']));
    // Its file loader would read configurations from the repository; this one uses ours only.
    const validator = new HtmlValidate(
      new StaticConfigLoader({ root: true, extends: [], elements: ['html5'], plugins: [], rules } as never),
    );
    const seen = new Set<string>();
    return scanFiles(job, progress, async (source) => {
      if (isTemplate(source) || WRITTEN.test(source.text)) return [];
      const report = await validator.validateString(source.text, source.file);
      const hits = report.results.flatMap(({ messages }) =>
        messages.flatMap(({ ruleId, line, column, offset, message, ruleUrl }) => {
          const id = ours.get(ruleId) ?? ruleId;
          // Some rules point at an element, others at its attribute.
          const start = Math.max(0, source.text.lastIndexOf('<', offset));
          const tag = source.text.slice(start, start + LOOKED_AT);
          if (isMeant(id, tag) || HARMLESS.test(message)) return [];
          if (NAMELESS.has(id) && isTranslated(source)) return [];
          if (OF_CONTROLS.has(id) && isSnippet(source)) return [];
          if (message.includes('required "lang"') && (isRedirect(source) || isTranslated(source))) return [];
          if (id === 'html-validate/wcag/h30' && isFilledIn(source, offset)) return [];
          if (id === 'html-validate/empty-title' && TO_FILL_IN.test(source.text)) return [];
          // The same line in many pages is reported once.
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

/** Whether a hit is intended: an element named by `title`, or a hidden anchor beside a heading. */
const isMeant = (id: string, tag: string): boolean =>
  (NAMELESS.has(id) && TITLED.test(tag)) || (id === 'html-validate/hidden-focusable' && IN_PAGE.test(tag));

/** Messages about `src` that scripts fill in, and about `<` before a digit, which browsers show as text. */
const HARMLESS = /required "src" attribute|'<\/?[^a-z/]/i;
const NAMELESS = new Set(
  ['empty-heading', 'input-missing-label', 'text-content', 'wcag/h30'].map((id) => `html-validate/${id}`),
);
const OF_CONTROLS = new Set(['input-missing-label', 'form-dup-name'].map((id) => `html-validate/${id}`));

/** Whether a script may give the link its text: the page has a script, or the link leads nowhere yet. */
const isFilledIn = ({ text }: SourceText, offset: number): boolean =>
  /<script\b/i.test(text) ||
  !/^<a\s[^>]*href\s*=\s*["']?(?!#?["'\s>]|javascript:)/i.test(text.slice(text.lastIndexOf('<a', offset)));

/** Whether a script translates the page, and so sets its texts and language. */
const isTranslated = ({ text }: SourceText): boolean => /\sdata-(?:l10n|i18n)[\w-]*\s*=/i.test(text);

/** Whether a file is a fragment for documentation, whose reader adds labels and names. */
const isSnippet = ({ file, text }: SourceText): boolean => isOfDocs(file) && !/<(?:html|body)\b/i.test(text);

/** Whether a page only redirects, so that nobody reads it. */
const isRedirect = ({ text }: SourceText): boolean =>
  /http-equiv=["']?refresh|\blocation(?:\.href)?\s*=|\blocation\.(?:replace|assign)\(/i.test(text) &&
  text.replace(/<(script|style)\b[\s\S]*?<\/\1>|<[^>]*>/gi, '').trim().length < 200;

/** An empty description: the page is to be copied and filled in. */
const TO_FILL_IN = /<meta\s(?=[^>]*\bname=["']?description\b)[^>]*\bcontent=(?:""|'')/i;
const TITLED = /^<[^<>]*\stitle\s*=\s*["']?[^"'\s>]/;
const IN_PAGE = /^<a\s[^<>]*href\s*=\s*["']?#/;
const LOOKED_AT = 1_000;

/** Marks of a page that a program wrote. */
const WRITTEN = /<meta\s[^>]*name=["']?generator\b|class="tsd-/i;

/** Folders of reports and reference pages that programs write. */
const REPORTS = /(^|\/)(?:coverage|lcov-report|javadoc|typedoc|_site|storybook-static|playwright-report)\//i;

/** Whether a page is a template: of a server, a build, Angular, Vue, Svelte or Alpine. */
const isTemplate = ({ text, file }: SourceText): boolean =>
  /\.component\.html$/i.test(file) ||
  /\{\{|\{%|<%|<\?(?!xml)|\$\{|\[\[|#\{|\s(?:\*ng\w+|\[\w[\w.-]*\]|\(\w[\w.]*\)|v-\w+|:\w[\w-]*|@\w[\w.:-]*|x-\w+|ng-\w+|th:\w+|data-bind)\s*=|@@\w|<\/?(?:ng-|svelte:)|\{#(?:if|each)/i.test(
    text,
  );
