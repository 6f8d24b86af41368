import { rulesOf } from '../rule.ts';

/** What GANYMEDE looks for. */
export const INTEGRATION_RULES = rulesOf('ganymede', {
  'integrations.no-timeout': [
    'low',
    'A request to another service may wait for ever: it has no timeout and no signal',
  ],
  'integrations.unchecked-response': [
    'medium',
    'A response is read without a look at its status: an error page passes for data',
  ],
  'integrations.unawaited-request': [
    'low',
    'Nobody hears of it when this request fails: it is neither awaited nor caught',
  ],
  'integrations.plain-http': ['medium', 'A service on another machine is spoken to without encryption'],
  'integrations.hard-coded-ip': ['low', 'An address of one machine is written into the program'],
  'integrations.webhook-unsigned': [
    'medium',
    'A webhook takes what anybody sends: nothing in its file looks at a signature or a secret',
  ],
  'integrations.key-in-url': ['low', 'A key is sent in the URL, where logs and proxies keep it'],
});
