import { rulesOf } from '../rule.ts';

export const TEST_RULES = rulesOf('saturn', {
  'tests.focused': ['medium', 'Only this runs: the other tests of the file are left out'],
  'tests.skipped': ['low', 'This does not run'],
  'tests.empty': ['medium', 'The test has no body and always passes'],
  'tests.no-assertion': ['low', 'The test asserts nothing'],
  'tests.no-matcher': ['medium', 'Nothing is asserted: no matcher is called on expect()'],
  'tests.constant-assertion': ['low', 'The assertion holds whatever the code does'],
  'tests.unawaited': [
    'medium',
    'The assertion is a promise that nobody waits for: the test passes before it fails',
  ],
  'tests.duplicate-title': ['low', 'Another test of the same block has the same title'],
});
