import { rulesOf } from '../rule.ts';

/** What EARTH finds in one file. */
export const SPEC_RULES = rulesOf('earth', {
  'specs.gherkin-error': ['medium', 'The feature cannot be parsed, so that nothing of it runs'],
  'specs.empty-scenario': ['low', 'The scenario has no steps'],
  'specs.scenario-without-then': ['low', 'The scenario expects nothing: it has no Then'],
  'specs.duplicate-scenario': ['low', 'Another scenario of the feature has the same name'],
  'specs.outline-without-examples': ['medium', 'The outline has no examples, so that it never runs'],
  'specs.unknown-placeholder': ['medium', 'A placeholder of the outline is no column of its examples'],
  'specs.duplicate-id': ['medium', 'Another requirement has the same id'],
  'specs.empty-criteria': ['low', 'Acceptance criteria are announced, and none follows'],
});

/** What takes all specifications of a repository together. */
export const CROSS_SPEC_RULES = rulesOf('earth', {
  'specs.undefined-id': ['low', 'A requirement is cited that nothing defines'],
});
