import type { SystemEvent, SystemEventType } from './system-event.ts';

/**
 * What an event is about, as far as it decides what may drive it out of what is kept.
 *
 * - `security` a policy refused something, or somebody crossed an audited boundary.
 * - `life`     an agent, a thread, a process or the journal began, ended or failed.
 * - `traffic`  everything that happens with envelopes, of which there are many.
 */
export type EventKind = 'security' | 'life' | 'traffic';

const OF_LIVES: ReadonlySet<SystemEventType> = new Set<SystemEventType>([
  'agent-started',
  'agent-crashed',
  'agent-restarting',
  'agent-failed',
  'agent-stopped',
  'agent-upgraded',
  'agent-parked',
  'place-started',
  'place-died',
  'process-ended',
  'journal',
  'history',
  'watchdog',
  'fault',
]);

/** An envelope that was let from one tier to another is traffic here, and an error that an envelope ended with. */
export function eventKind({ type, security, success, outcome }: SystemEvent): EventKind {
  if (security === true) return type === 'routing-decision' && success === true ? 'traffic' : 'security';
  if (OF_LIVES.has(type)) return 'life';
  return type === 'error' && outcome === undefined ? 'life' : 'traffic';
}
