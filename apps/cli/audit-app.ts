import { loopAgents } from '@orrery/ralph-loop';
import type { AgentSpec } from 'orrery';

type AuditApp = typeof import('@orrery/audit');

/** The audit of a repository where it is installed: it stands on many tools, which the package does not bring. */
export async function auditApp(): Promise<AuditApp | undefined> {
  try {
    return await import('@orrery/audit');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ERR_MODULE_NOT_FOUND' && message.includes('@orrery/audit')) return undefined;
    throw error;
  }
}

/** The 21 planets; without the audit the two that every mission needs. */
export const planets = async (): Promise<readonly AgentSpec[]> =>
  (await auditApp())?.auditTeam() ?? loopAgents();
