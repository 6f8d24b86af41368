import { capability } from 'orrery';
import { AuditAnswer, AuditRequest, MissionRequest } from './audit-answer.ts';
import { Layers } from './layers.ts';

const LayeredRequest = AuditRequest.extend({ layers: Layers.optional() });

const audit = (id: string, description: string) =>
  capability({ id, description, input: AuditRequest, output: AuditAnswer, readOnly: true });

export const specsCheck = audit(
  'specs.check',
  'Specifications in Gherkin that say nothing, or cannot be read',
);

export const architectureCycles = capability({
  id: 'architecture.cycles',
  description: 'Circles of imports, and imports that the given layers do not allow',
  input: LayeredRequest,
  output: AuditAnswer,
  readOnly: true,
});

export const accessibilityCheck = audit(
  'ui.accessibility',
  'Pages and components that not everybody can use',
);

export const typesCheck = audit('types.check', "The compiler's errors in every project of a repository");

export const schemaCheck = audit('schema.check', 'SQL that locks, loses or leaks data');

export const testsCheck = audit('tests.check', 'Tests that do not run, cannot fail, or prove nothing');

export const realtimeCheck = audit(
  'realtime.check',
  'Hooks and effects of components that break their rules',
);

export const securityScan = audit('security.scan', 'Secrets in files, and text that becomes code');

export const integrationsCheck = audit('integrations.check', 'Descriptions of interfaces to other services');

export const errorsCheck = audit('errors.check', 'Promises and errors that nobody handles');

export const dependenciesCheck = audit('dependencies.check', 'What packages need against what they declare');

export const stylesCheck = audit('styles.check', 'Stylesheets that do not say what was meant');

export const performanceCheck = audit('performance.check', 'Work that is done more often than it has to be');

export const releaseCheck = audit(
  'release.check',
  'Workflows, images and packages: how it is given to others',
);

export const docsCheck = audit('docs.check', 'Links of the documentation that lead nowhere');

const aboutMission = (id: string, description: string) =>
  capability({ id, description, input: MissionRequest, output: AuditAnswer, readOnly: true });

export const missionCount = aboutMission(
  'mission.count',
  'How much was found where, by what, and how long it took',
);

export const missionDeaths = aboutMission('mission.deaths', 'What died, was tried again, or came to nothing');

export const missionCompare = aboutMission(
  'mission.compare',
  'What is new and what is gone since an earlier report',
);

export const missionUnread = aboutMission('mission.unread', 'What nobody has read, and why');
