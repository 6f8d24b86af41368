import type { Taint } from '../protocol/taint.ts';
import type { AgentDesk } from './attendant.ts';

/** Tells the system that what the agent of a desk offers is foreign text, and how its owner approves it. */
export const noteCatalogue = (
  desk: Pick<AgentDesk, 'agentId' | 'note'>,
  { reason, taint }: { readonly reason: string; readonly taint: Taint },
): void => desk.note({ type: 'catalogue', agentId: desk.agentId, reason, taint, security: true });
