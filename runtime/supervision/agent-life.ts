import { initialTransition, type SnapshotFrom, transition } from 'xstate';
import type { Restart } from './restart.ts';
import type { AgentStatus } from '../protocol/roster.ts';
import { type AgentLifeEvent, agentLifeMachine } from './agent-life.machine.ts';

/** Where one agent's life stands; equal lives are the same object. */
export interface AgentLife {
  readonly restart: Restart;
  readonly status: AgentStatus;
  readonly snapshot: SnapshotFrom<typeof agentLifeMachine>;
  readonly steps: Map<AgentLifeEvent['type'], AgentLife>;
}

// A life is one of eighteen: three restart kinds in six states. They are shared and their steps remembered, because a
// hundred thousand agents would otherwise pay 4 kB and 19 us a step each.
const lives = new Map<string, AgentLife>();

/** A life that begins: `starting`. */
export function beginLife(restart: Restart): AgentLife {
  return lives.get(`${restart}/starting`) ?? share(initialTransition(agentLifeMachine, { restart })[0]);
}

/** The life after `type`; the same object if the event changes nothing. */
export function nextLife(life: AgentLife, type: AgentLifeEvent['type']): AgentLife {
  const known = life.steps.get(type);
  if (known !== undefined) return known;
  const next = share(transition(agentLifeMachine, life.snapshot, { type })[0]);
  life.steps.set(type, next);
  return next;
}

/** The same point of a life under another restart kind. */
export function lifeUnder(restart: Restart, { status }: AgentLife): AgentLife {
  const known = lives.get(`${restart}/${status}`);
  return known ?? share(agentLifeMachine.resolveState({ value: status, context: { restart } }));
}

function share(snapshot: SnapshotFrom<typeof agentLifeMachine>): AgentLife {
  const { restart } = snapshot.context;
  const status: AgentStatus = snapshot.value;
  const key = `${restart}/${status}`;
  const shared = lives.get(key) ?? { restart, status, snapshot, steps: new Map() };
  lives.set(key, shared);
  return shared;
}
