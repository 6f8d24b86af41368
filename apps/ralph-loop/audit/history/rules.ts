import { rulesOf } from '../rule.ts';

/** What ATLAS tells of. */
export const HISTORY_RULES = rulesOf('atlas', {
  'history.hot-spot': ['info', 'A file that one change in seven or more touches'],
  'history.change-together': [
    'info',
    'Two files nearly always change together, and neither imports the other',
  ],
  'history.mended-again': ['info', 'A file that is mended again and again'],
});
