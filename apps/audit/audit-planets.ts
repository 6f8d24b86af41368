import { AgentDefinition } from 'orrery';
import { auditTeam } from './audit-team.ts';

/** The definitions of the 21 planets, by which they are looked at without being started. */
export async function auditPlanets(): Promise<AgentDefinition[]> {
  const modules = await Promise.all(auditTeam().map(({ module }) => import(module.href)));
  const exported = modules.flatMap((module) => Object.values(module as Record<string, unknown>));
  return exported.filter((one) => one instanceof AgentDefinition);
}
