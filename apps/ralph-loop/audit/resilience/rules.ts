import { rulesOf } from '../rule.ts';

/** What MIMAS looks for. */
export const RESILIENCE_RULES = rulesOf('mimas', {
  'resilience.endless-retry': ['medium', 'What fails is tried again without a limit'],
  'resilience.retry-without-pause': ['medium', 'What fails is tried again at once, without a pause'],
  'resilience.unheard-error': [
    'medium',
    "Nobody listens to its 'error' event, so that an error ends the process",
  ],
  'resilience.unbounded-fan-out': ['low', 'As many requests as there are items go out at the same time'],
  'resilience.survives-uncaught': ['medium', 'The process goes on after an uncaught exception'],
});
