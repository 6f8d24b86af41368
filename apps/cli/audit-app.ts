import { loopAgents } from '@orrery/ralph-loop';
import type { AgentSpec } from 'orrery';
import { isInstalled } from './optional-packages.ts';

type AuditApp = typeof import('@orrery/audit');

/** Whether the audit is installed; it is not loaded. */
export const hasAudit = (): boolean => isInstalled('@orrery/audit');

/** Loads the audit; undefined if it is not installed. It needs many tools, which the package does not bring. */
export async function auditApp(): Promise<AuditApp | undefined> {
  try {
    return await import('@orrery/audit');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ERR_MODULE_NOT_FOUND' && message.includes('@orrery/audit')) return undefined;
    throw error;
  }
}

/** The 21 planets; without the audit only SUN and MERCURY, which every mission needs. */
export const planets = async (): Promise<readonly AgentSpec[]> =>
  (await auditApp())?.auditTeam() ?? loopAgents();
