/**
 * The kind of an event. It decides which newer events may displace it from the history.
 *
 * - `security` a policy refused something, or somebody crossed an audited boundary.
 * - `life`     an agent, a thread, a process or the journal began, ended or failed.
 * - `traffic`  everything that happens with envelopes, of which there are many.
 */
export type EventKind = 'security' | 'life' | 'traffic';

/**
 * Every type of event, and its kind where no more is known of it. The seed's own (`A2ALogEvent`) are the first four and `error`.
 * No schema: threads load this that load none.
 */
export const KIND_OF_TYPE = {
  'message-sent': 'traffic',
  'message-received': 'traffic',
  'routing-decision': 'traffic',
  'tool-invocation': 'traffic',
  'model-call': 'traffic',
  error: 'traffic',
  'envelope-settled': 'traffic',
  'dead-letter': 'traffic',
  progress: 'traffic',
  'agent-started': 'life',
  'agent-crashed': 'life',
  'agent-restarting': 'life',
  'agent-failed': 'life',
  'agent-stopped': 'life',
  'agent-upgraded': 'life',
  'agent-parked': 'life',
  'outsider-refused': 'traffic',
  'place-started': 'life',
  'place-died': 'life',
  'process-ended': 'life',
  'peer-status': 'life',
  'peer-negotiated': 'traffic',
  warning: 'life',
  journal: 'life',
  history: 'life',
  'router-state': 'traffic',
  negotiation: 'traffic',
  swarm: 'traffic',
  'channel-status': 'traffic',
  'server-log': 'traffic',
  watchdog: 'life',
  'declared-clean': 'traffic',
  catalogue: 'traffic',
  fault: 'life',
  'machine-step': 'traffic',
  'events-left-out': 'traffic',
  mission: 'traffic',
} as const satisfies Readonly<Record<string, EventKind>>;
