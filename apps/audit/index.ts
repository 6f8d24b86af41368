export { allTools } from './all-tools.ts';
export { auditEffects } from './audit-effects.ts';
export { auditMission, auditTeam } from './audit-team.ts';
