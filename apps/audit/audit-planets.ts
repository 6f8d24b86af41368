import { AgentDefinition } from 'orrery';
import { auditTeam } from './audit-team.ts';

/** Loads the definitions of the 21 planets, without starting them. */
export async function auditPlanets(): Promise<AgentDefinition[]> {
  const modules = await Promise.all(auditTeam().map(({ module }) => import(module.href)));
  const exported = modules.flatMap((module) => Object.values(module as Record<string, unknown>));
  return exported.filter((one) => one instanceof AgentDefinition);
}
