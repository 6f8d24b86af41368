import type { AgentDesk, Taint } from '../../runtime/public.ts';

/** Tells the system that what the agent of a desk offers is foreign text, and how its owner approves it. */
export const noteCatalogue = (
  desk: AgentDesk,
  { reason, taint }: { readonly reason: string; readonly taint: Taint },
): void => desk.note({ type: 'catalogue', agentId: desk.agentId, reason, taint, security: true });
