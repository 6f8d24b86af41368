import { type EventKind, KIND_OF_TYPE } from '../protocol/event-types.ts';
import type { SystemEvent } from '../protocol/system-event.ts';

/** Which kind an event is. An allowed crossing between tiers, and the error that an envelope ended with, are traffic. */
export function eventKind({ type, security, success, outcome }: SystemEvent): EventKind {
  if (security === true) return type === 'routing-decision' && success === true ? 'traffic' : 'security';
  return type === 'error' && outcome === undefined ? 'life' : KIND_OF_TYPE[type];
}
