import { durationText } from './durations.ts';
import type { Entry } from './fold-scene.ts';
import { shownText } from './shown-text.ts';
import type { WatchedEvent } from './watched-event.ts';

/** An entry of a recording in one sentence. */
export function entryText(entry: Entry): string {
  return entry.kind === 'state'
    ? `The team told all that it is: ${entry.state.agents.length} agents`
    : shownText(eventText(entry.event), 240);
}

export const isBadEntry = (entry: Entry): boolean =>
  entry.kind === 'event' &&
  (entry.event.errorCode !== undefined || BAD.has(entry.event.type) || isBadOutcome(entry.event));

const BAD: ReadonlySet<string> = new Set([
  'dead-letter',
  'error',
  'agent-crashed',
  'agent-failed',
  'agent-parked',
  'place-died',
]);

const isBadOutcome = ({ type, outcome }: WatchedEvent): boolean =>
  type === 'envelope-settled' && outcome !== undefined && outcome !== 'handled';

function eventText(event: WatchedEvent): string {
  const { type, agentId = 'somebody', sender = 'somebody', recipient = 'somebody', reason } = event;
  const to = event.targetAgentId ?? recipient;
  const what = [event.messageType ?? 'an envelope', event.capability ?? ''].join(' ').trim();
  switch (type) {
    case 'message-sent':
      return `${sender} sent ${what} to ${recipient === '*' ? 'everybody' : recipient}`;
    case 'routing-decision':
      return event.errorCode === undefined && event.success !== false
        ? `${what} of ${sender} was let through to ${to}`
        : `${what} of ${sender} to ${recipient} was refused: ${event.errorCode ?? ''} ${reason ?? ''}`;
    case 'message-received':
      return `${to} took ${what} of ${sender} from its mailbox`;
    case 'envelope-settled':
      return `${to} is done with ${what} of ${sender}: ${event.outcome ?? 'handled'}`;
    case 'dead-letter':
      return `${what} of ${sender} to ${to} reached nobody: ${reason ?? event.errorCode ?? ''}`;
    case 'progress':
      return `${agentId} is at ${Math.round((event.fraction ?? 0) * 100)} %${reason === undefined ? '' : `: ${reason}`}`;
    case 'tool-invocation':
      return `${agentId} called the tool ${event.toolName ?? '?'}${tookText(event)}${event.success === false ? ', which failed' : ''}`;
    case 'model-call':
      return `${agentId} called the model ${event.model ?? '?'}${tookText(event)}`;
    case 'machine-step':
      return machineText(event);
    case 'mission':
      return missionText(event);
    case 'events-left-out':
      return `${event.count ?? 0} events of ${event.place ?? 'a thread'} were left out under load`;
    default:
      return [type, event.agentId ?? event.place ?? event.targetAgentId ?? '', reason ?? '']
        .filter((one) => one !== '')
        .join(' · ');
  }
}

const tookText = ({ duration }: WatchedEvent): string =>
  duration === undefined ? '' : ` for ${durationText(duration)}`;

function machineText({
  machine = 'a machine',
  actorId,
  agentId,
  event,
  from,
  to,
  failedGuards,
}: WatchedEvent): string {
  const who = [agentId ?? '', machine, actorId === agentId ? '' : (actorId ?? '')]
    .filter((one) => one !== '')
    .join(' ');
  const on = event === undefined ? '' : ` on ${event}`;
  if (from === to && failedGuards !== undefined)
    return `${who} stayed ${to ?? ''}${on}: ${failedGuards.join(', ')} did not hold`;
  return `${who} went from ${from ?? '?'} to ${to ?? '?'}${on}`;
}

const MISSION_STEPS: ReadonlyMap<string, string> = new Map([
  ['mission-started', 'began'],
  ['mission-ended', 'ended'],
]);

function missionText({
  mission = 'the mission',
  task,
  step = '',
  gate,
  agentId,
  success,
  reason,
}: WatchedEvent): string {
  const why = reason === undefined ? '' : `: ${reason}`;
  const by = agentId === undefined ? '' : ` by ${agentId}`;
  if (step === 'gate')
    return `the gate ${gate ?? ''} ${success === false ? 'refused' : 'passed'} the task ${task ?? ''}${why}`;
  if (task === undefined) return `the mission ${mission} ${MISSION_STEPS.get(step) ?? step}${why}`;
  return `the task ${task} was ${step.replace(/^task-/, '')}${by}${why}`;
}
