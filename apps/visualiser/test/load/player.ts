/**
 * Plays a large team to the page, in a process of its own: so many agents, so many events a second, a state a second. Says its address
 * when it listens. It ends with its parent.
 */
import { emptyState, WatchServer } from '../fixtures/watch-server.ts';

const [folder = '', agents = '1000', perSecond = '5000'] = process.argv.slice(2);
const AGENTS = Number(agents);
const PER_BATCH = Math.round(Number(perSecond) / 10);
const ids = Array.from({ length: AGENTS }, (_, at) => `agent-${at}`);
const server = await WatchServer.start(folder);
let number = 0;

function stateNow(): object {
  return {
    ...emptyState(),
    name: 'a large team',
    nowMs: Date.now(),
    places: ['worker-1', 'worker-2', 'worker-3'].map((id) => ({ id, kind: 'worker', agents: [] })),
    account: {
      accepted: number,
      handled: number,
      rejected: 0,
      expired: 0,
      deadLettered: 0,
      inFlight: 200,
      holds: true,
    },
    agents: ids.map((id, at) => ({
      ...{
        id,
        name: id.toUpperCase(),
        version: '1.0.0',
        tier: at % 4,
        capabilities: ['work.do'],
        capacity: 256,
      },
      ...{ place: `worker-${1 + (at % 3)}`, status: at % 97 === 0 ? 'restarting' : 'running' },
      ...{ waiting: (at * 7 + number) % 40, restarts: at % 97 === 0 ? 3 : 0 },
    })),
  };
}

/** A request from one agent to another, in the four events that it makes. */
function request(): object[] {
  number += 1;
  const sender = ids[number % AGENTS] ?? '';
  const recipient = ids[(number * 31 + 7) % AGENTS] ?? '';
  const envelopeId = `e-${number}`;
  const about = {
    envelopeId,
    sender,
    recipient,
    messageType: 'request',
    capability: 'work.do',
    correlationId: `c-${number >> 2}`,
  };
  const timestamp = Date.now();
  return [
    { type: 'message-sent', timestamp, place: 'worker-1', ...about },
    { type: 'message-received', timestamp, place: 'worker-2', targetAgentId: recipient, ...about },
    {
      type: 'machine-step',
      timestamp,
      place: 'worker-2',
      agentId: recipient,
      machine: 'cell',
      actorId: recipient,
      event: 'work.given',
      from: number % 2 === 0 ? 'idle' : 'busy',
      to: number % 2 === 0 ? 'busy' : 'idle',
    },
    {
      type: 'envelope-settled',
      timestamp,
      place: 'worker-2',
      targetAgentId: recipient,
      outcome: 'handled',
      ...about,
    },
  ];
}

setInterval(() => {
  const events: object[] = [];
  while (events.length < PER_BATCH) events.push(...request());
  server.sendEvents(events);
}, 100);
setInterval(() => server.sendState(stateNow()), 1_000);
server.state = stateNow();
process.on('disconnect', () => process.exit(0));
process.send?.({ url: server.url, token: server.token });
