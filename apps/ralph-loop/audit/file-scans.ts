import { ACCESSIBILITY_CHECK } from './accessibility/accessibility-check.ts';
import { DOCS_CHECK } from './docs/docs-check.ts';
import { ERRORS_CHECK } from './errors/errors-check.ts';
import type { FileScan } from './file-scan.ts';
import { IDEAS_CHECK } from './ideas/ideas-check.ts';
import { INTEGRATIONS_CHECK } from './integrations/integrations-check.ts';
import { METRICS_SCAN } from './metrics/metrics-scan.ts';
import { PERFORMANCE_CHECK } from './performance/performance-check.ts';
import { REALTIME_CHECK } from './realtime/realtime-check.ts';
import { RELEASE_CHECK } from './release/release-check.ts';
import { RESILIENCE_CHECK } from './resilience/resilience-check.ts';
import { RESPONSIVE_CHECK } from './responsive/responsive-check.ts';
import { SCHEMA_CHECK } from './schemas/schema-check.ts';
import { CITATIONS_CHECK, SPECS_CHECK } from './specs/specs-check.ts';
import { TESTS_CHECK } from './test-quality/tests-check.ts';

/** The scans of single files whose findings MERCURY looks for again. */
const FILE_SCANS: readonly FileScan[] = [
  ERRORS_CHECK,
  TESTS_CHECK,
  DOCS_CHECK,
  IDEAS_CHECK,
  PERFORMANCE_CHECK,
  RELEASE_CHECK,
  RESILIENCE_CHECK,
  INTEGRATIONS_CHECK,
  REALTIME_CHECK,
  METRICS_SCAN,
  ACCESSIBILITY_CHECK,
  SPECS_CHECK,
  CITATIONS_CHECK,
  RESPONSIVE_CHECK,
  SCHEMA_CHECK,
];

/** The scan that finds `rule`, if it is one that looks at files one by one. */
export const fileScanFor = (rule: string): FileScan | undefined =>
  FILE_SCANS.find(({ rules }) => Object.hasOwn(rules, rule));
