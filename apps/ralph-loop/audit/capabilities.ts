import { capability } from 'orrery';
import { z } from 'zod';
import { AuditReport } from '../findings/finding.ts';
import { Layers } from './layers.ts';

/**
 * What every task is asked with.
 *
 * - `root`      the repository, absolute.
 * - `feedback`  what the gate said about the last answer, if it refused that.
 */
const AuditRequest = z.strictObject({ root: z.string().min(1), feedback: z.string().optional() });

export const typesCheck = capability({
  id: 'types.check',
  description: "The compiler's errors in every project of a repository",
  input: AuditRequest,
  output: AuditReport,
  readOnly: true,
});

export const architectureCycles = capability({
  id: 'architecture.cycles',
  description: 'Circles of imports, and imports that the given layers do not allow',
  input: AuditRequest.extend({ layers: Layers.optional() }),
  output: AuditReport,
  readOnly: true,
});

export const securityScan = capability({
  id: 'security.scan',
  description: 'Secrets in files, and calls that run or show what they should not',
  input: AuditRequest,
  output: AuditReport,
  readOnly: true,
});

export const errorsCheck = capability({
  id: 'errors.check',
  description: 'Errors that are dropped, disguised or say nothing',
  input: AuditRequest,
  output: AuditReport,
  readOnly: true,
});

export const integrationsCheck = capability({
  id: 'integrations.check',
  description: 'Requests, webhooks and addresses of other services',
  input: AuditRequest,
  output: AuditReport,
  readOnly: true,
});

export const metricsCheck = capability({
  id: 'metrics.check',
  description: 'Metrics against the conventions of Prometheus, and libraries that write to the console',
  input: AuditRequest,
  output: AuditReport,
  readOnly: true,
});

export const dependenciesCheck = capability({
  id: 'dependencies.check',
  description: 'What packages need against what they declare and what is locked',
  input: AuditRequest,
  output: AuditReport,
  readOnly: true,
});

export const responsiveCheck = capability({
  id: 'responsive.check',
  description: 'Pages, styles and web manifests that do not fit a telephone',
  input: AuditRequest,
  output: AuditReport,
  readOnly: true,
});

export const resilienceCheck = capability({
  id: 'resilience.check',
  description:
    'How the code behaves when something fails: retries, errors that nobody hears, requests without an end',
  input: AuditRequest,
  output: AuditReport,
  readOnly: true,
});

export const performanceCheck = capability({
  id: 'performance.check',
  description: 'Work that blocks, grows faster than it has to, or is done twice; large files',
  input: AuditRequest,
  output: AuditReport,
  readOnly: true,
});

export const releaseCheck = capability({
  id: 'release.check',
  description: 'Workflows, images and packages: how the repository is built and given to others',
  input: AuditRequest,
  output: AuditReport,
  readOnly: true,
});

export const docsCheck = capability({
  id: 'docs.check',
  description: 'Documentation against what it documents: links, anchors, scripts, examples',
  input: AuditRequest,
  output: AuditReport,
  readOnly: true,
});

export const historyBrief = capability({
  id: 'history.brief',
  description: 'What the last commits say about the files',
  input: AuditRequest,
  output: AuditReport,
  readOnly: true,
});

export const ideasCollect = capability({
  id: 'ideas.collect',
  description:
    'What the repository itself says could be done: marks in comments, deprecations, code that is switched off',
  input: AuditRequest,
  output: AuditReport,
  readOnly: true,
});

export const specsCheck = capability({
  id: 'specs.check',
  description: 'Features that cannot run or expect nothing, requirements with the same id or with none',
  input: AuditRequest,
  output: AuditReport,
  readOnly: true,
});

export const uiAccessibility = capability({
  id: 'ui.accessibility',
  description: 'Pages and components that not everybody can use',
  input: AuditRequest,
  output: AuditReport,
  readOnly: true,
});

export const schemaCheck = capability({
  id: 'schema.check',
  description: 'Tables, keys, indexes and views in SQL, and JSON Schemas that are none',
  input: AuditRequest,
  output: AuditReport,
  readOnly: true,
});

export const testsCheck = capability({
  id: 'tests.check',
  description: 'Tests that do not run, or that nothing can make fail',
  input: AuditRequest,
  output: AuditReport,
  readOnly: true,
});

export const realtimeCheck = capability({
  id: 'realtime.check',
  description: 'Subscriptions, intervals and sockets that nobody ends or watches',
  input: AuditRequest,
  output: AuditReport,
  readOnly: true,
});
