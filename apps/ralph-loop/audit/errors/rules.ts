import { rulesOf } from '../rule.ts';

/** What CHARON looks for. */
export const ERROR_RULES = rulesOf('charon', {
  'errors.empty-catch': ['low', 'An error is caught and dropped, and no comment says why'],
  'errors.swallowed-rejection': ['low', 'The rejection of a promise is dropped, and no comment says why'],
  'errors.logged-only': ['low', 'An error is only logged: its function goes on and returns undefined'],
  'errors.lost-cause': ['low', 'A caught error is replaced by another that says nothing of it'],
  'errors.thrown-value': ['medium', 'What is thrown is no Error: it has neither a stack nor a message'],
  'errors.rejected-value': ['medium', 'A promise is rejected with something that is no Error'],
  'errors.no-message': ['low', 'An error says nothing about what went wrong'],
  'errors.finally-leaves': ['medium', 'return in finally drops the error that was on its way'],
  'errors.async-executor': ['medium', 'What an async executor throws never rejects its promise'],
});
