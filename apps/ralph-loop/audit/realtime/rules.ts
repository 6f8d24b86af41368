import { rulesOf } from '../rule.ts';

/** What TITAN looks for. */
export const REALTIME_RULES = rulesOf('titan', {
  'realtime.no-cleanup': ['medium', 'What is started when a component appears is not ended when it goes'],
  'realtime.in-render': ['medium', 'Every rendering starts another one, and none is ended'],
  'realtime.interval-dropped': ['low', 'Nobody keeps the handle of the interval, so that nothing can end it'],
  'realtime.removes-nothing': ['medium', 'A new function is no listener yet, so that nothing is removed'],
  'realtime.socket-unwatched': ['low', 'Nobody notices when the connection fails or ends'],
  'realtime.reconnect-at-once': [
    'medium',
    'A lost connection is opened again without a pause, over and over',
  ],
  'realtime.message-unguarded': ['medium', 'A message that is no JSON ends the process for all its clients'],
});
