import { loopAgents } from '@orrery/ralph-loop';
import type { AgentSpec } from 'orrery';
import { isInstalled } from './optional-packages.ts';

type AuditApp = typeof import('@orrery/audit');

/** Says whether the audit is installed, without loading it. */
export const hasAudit = (): boolean => isInstalled('@orrery/audit');

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
