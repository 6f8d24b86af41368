import { rulesOf } from '../rule.ts';

/** What NEPTUNE finds by looking at one file. */
export const METRIC_FILE_RULES = rulesOf('neptune', {
  'metrics.invalid-name': ['medium', 'prom-client refuses this name when the metric is made'],
  'metrics.no-help': ['medium', 'prom-client refuses a metric without a help text'],
  'metrics.twice': ['medium', 'A metric of this name is made already: prom-client refuses the second'],
  'metrics.counter-name': ['low', 'The name of a counter ends in _total'],
  'metrics.total-name': ['low', 'Only the name of a counter ends in _total'],
  'metrics.unit': ['low', 'A metric is measured in a base unit: seconds, bytes, or a ratio'],
  'metrics.name': ['low', 'A metric is named against the conventions'],
  'metrics.unbounded-label': [
    'medium',
    'A label takes any number of values, and each of them is a series for ever',
  ],
  'metrics.buckets': [
    'low',
    'The default buckets are made for seconds; this histogram measures something else',
  ],
});

/** What NEPTUNE finds by following the imports of a package. */
export const REPOSITORY_METRIC_RULES = rulesOf('neptune', {
  'metrics.console-log': ['low', 'A published library writes to the console of whoever uses it'],
});

/** What NEPTUNE looks for. */
export const METRIC_RULES = { ...METRIC_FILE_RULES, ...REPOSITORY_METRIC_RULES };
