import { type LoopEvent, usageText } from '@orrery/ralph-loop';

type CodingEvent = Extract<LoopEvent, { type: 'task.coding' }>['event'];

/** Says in one line what a coding agent does; its name comes before. */
export function codingText(event: CodingEvent): string {
  switch (event.type) {
    case 'session.started':
      return `begins session ${event.sessionId}${event.model === undefined ? '' : ` with ${event.model}`}`;
    case 'said':
      return `says: ${inLine(event.text)}`;
    case 'planned':
      return `plans: ${event.entries.map(({ text, status }) => `${inLine(text)} (${status})`).join('; ')}`;
    case 'tool.started': {
      const files = event.paths.length === 0 ? '' : ` [${event.paths.join(', ')}]`;
      return `begins to ${event.kind === 'other' ? 'use a tool' : event.kind}: ${inLine(event.title)}${files}`;
    }
    case 'tool.ended':
      return `${event.isError ? 'has failed with' : 'is done with'} tool ${event.toolId}`;
    case 'permission.answered':
      return `${event.isAllowed ? 'may' : 'may not'} ${event.kind}: ${inLine(event.title)}`;
    case 'usage':
      return `has used ${usageText(event.usage) ?? 'something, and does not say what'}`;
    case 'rate.limited':
      return `${event.isFinal ? 'gives up at a limit of its provider' : 'waits for its provider'}: ${inLine(event.reason)}${event.retryAtMs === undefined ? '' : `, until ${timeText(event.retryAtMs)}`}`;
    case 'ended':
      return `${event.isError ? 'says that it has failed' : 'says that it is done'}: ${inLine(event.reason)}`;
    case 'unreadable':
      return `prints what is no event: ${inLine(event.text)}`;
  }
}

const inLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();

/** A program may say any number. */
const timeText = (atMs: number): string => {
  const time = new Date(atMs);
  return Number.isNaN(time.getTime()) ? 'nobody knows when' : time.toISOString();
};
