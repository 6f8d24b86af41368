import { conversationIdOf, type WatchedEvent } from '@orrery/visualiser/model';

/** One thing that an agent did, or that was done to it. */
export interface StoryLine {
  readonly atMs: number;
  readonly text: string;
  readonly isBad: boolean;
}

const FIRST = 50;
const LAST = 200;

/** What happened to one agent, in order: the beginning, and the end. */
export class AgentStory {
  readonly #agentId: string;
  readonly #first: StoryLine[] = [];
  readonly #last: StoryLine[] = [];
  #told = 0;

  constructor(agentId: string) {
    this.#agentId = agentId;
  }

  get first(): readonly StoryLine[] {
    return this.#first;
  }

  get last(): readonly StoryLine[] {
    return this.#last.slice(-LAST);
  }

  /** How many lines are between `first` and `last`. */
  get leftOut(): number {
    return this.#told - this.#first.length - this.last.length;
  }

  take(event: WatchedEvent): void {
    const told = this.#lineOf(event);
    if (told === undefined) return;
    const line = {
      atMs: event.timestamp,
      text: told,
      isBad: event.errorCode !== undefined || event.success === false || BAD.has(event.type),
    };
    this.#told += 1;
    if (this.#first.length < FIRST) this.#first.push(line);
    else this.#last.push(line);
    // Not each time, for the whole list moves.
    if (this.#last.length > LAST * 2) this.#last.splice(0, LAST);
  }

  #lineOf(event: WatchedEvent): string | undefined {
    const id = this.#agentId;
    const { type, agentId, sender, recipient, targetAgentId } = event;
    const to = targetAgentId ?? recipient;
    if (type === 'message-sent')
      return sender === id ? `sent ${whatOf(event)} to ${recipient ?? 'somebody'}` : undefined;
    if (type === 'message-received')
      return to === id ? `took ${whatOf(event)} from ${sender ?? 'somebody'}` : undefined;
    if (type === 'envelope-settled')
      return to === id ? `was done with ${whatOf(event)}: ${endingOf(event)}` : undefined;
    if (type === 'routing-decision')
      return sender === id && event.errorCode !== undefined
        ? `was refused ${whatOf(event)} to ${recipient ?? 'somebody'}: ${reasonOf(event)}`
        : undefined;
    if (type === 'dead-letter') {
      if (to !== id && sender !== id) return undefined;
      return `${whatOf(event)} from ${sender ?? 'somebody'} to ${to ?? 'nobody'} reached nobody: ${reasonOf(event)}`;
    }
    if (agentId !== id || type === 'progress') return undefined;
    if (type === 'machine-step') return stepOf(event);
    if (type === 'tool-invocation') return `called the tool ${event.toolName ?? '?'}${tookOf(event)}`;
    if (type === 'model-call') return `called the model ${event.model ?? '?'}${tookOf(event)}`;
    if (type === 'mission') return `${event.step ?? 'step'} ${event.task ?? ''} ${event.reason ?? ''}`.trim();
    return event.reason === undefined ? type : `${type}: ${event.reason}`;
  }
}

const BAD: ReadonlySet<string> = new Set([
  'agent-crashed',
  'agent-failed',
  'agent-parked',
  'dead-letter',
  'watchdog',
]);

function whatOf(event: WatchedEvent): string {
  const { messageType = 'an envelope', capability } = event;
  const about = conversationIdOf(event);
  const what = capability === undefined ? messageType : `${messageType} ${capability}`;
  return about === undefined ? what : `${what} of ${about}`;
}

const endingOf = ({ outcome, errorCode, reason }: WatchedEvent): string =>
  [outcome ?? 'handled', errorCode, reason].filter((part) => part !== undefined).join(', ');

const reasonOf = ({ reason, errorCode }: WatchedEvent): string =>
  reason ?? errorCode ?? 'for no reason that was told';

function stepOf({ machine, actorId, agentId, event, from, to, failedGuards }: WatchedEvent): string {
  const which = actorId === undefined || actorId === agentId ? machine : `${machine} ${actorId}`;
  const guards = failedGuards === undefined ? '' : `, not ${failedGuards.join(', ')}`;
  return `${which}: ${takenText(event)} led from ${from} to ${to}${guards}`;
}

/** The events that a machine sends to itself, in words. */
function takenText(event = 'something'): string {
  if (event.startsWith('xstate.done.')) return 'what it had begun, now done,';
  if (event.startsWith('xstate.error.')) return 'what it had begun, now failed,';
  return event.startsWith('xstate.after.') ? 'its timer' : event;
}

const tookOf = ({ duration, success, tokens }: WatchedEvent): string =>
  [
    success === false ? ' in vain' : '',
    duration === undefined ? '' : ` for ${Math.round(duration)} ms`,
    tokens === undefined ? '' : `, ${tokens} tokens`,
  ].join('');
