import { z } from 'zod';
import type { A2AEnvelope } from '../../runtime/protocol/envelope.ts';
import { requireText } from '../../runtime/protocol/parse-options.ts';
import { HOST_ID, isSystemId } from '../../runtime/protocol/policy.ts';
import type { Taint } from '../../runtime/protocol/taint.ts';
import { type ActorContext, type AgentDesk, deskOf, type Outgoing } from '../../runtime/public.ts';
import { Listeners } from './listeners.ts';
import { listenerFault } from './listener-fault.ts';

/** Under which name a desk holds who is to hear of updates. */
const HELD_AS = 'resource-updates';
/** Updates go over the embedder's mailbox, which outlives every thread of agents. */
const HUB = HOST_ID;

/**
 * What agents and the hub tell each other. `changed` goes from whoever has the resource to the hub, and from there to those who
 * `listen` until they `leave`.
 */
const UpdateMessage = z.discriminatedUnion('resourceUpdate', [
  z.strictObject({ resourceUpdate: z.literal('changed'), uri: z.string().min(1) }),
  z.strictObject({ resourceUpdate: z.literal('listen') }),
  z.strictObject({ resourceUpdate: z.literal('leave') }),
]);
type UpdateMessage = z.infer<typeof UpdateMessage>;

/** What one desk has to do with updates; at the hub also which agents listen. */
interface Updates {
  readonly listeners: Listeners<string>;
  readonly agents: Set<string>;
  /** Waits for the hub to be there. */
  unwatch: (() => void) | undefined;
}

const updatesIfAny = (desk: AgentDesk): Updates | undefined => desk.held.get(HELD_AS) as Updates | undefined;

function updatesAt(desk: AgentDesk): Updates {
  const known = updatesIfAny(desk);
  if (known !== undefined) return known;
  const made: Updates = {
    listeners: new Listeners(listenerFault((event) => desk.note(event))),
    agents: new Set(),
    unwatch: undefined,
  };
  desk.held.set(HELD_AS, made);
  return made;
}

const outgoing = (recipient: string, payload: UpdateMessage, taint?: Taint): Outgoing => ({
  recipient,
  type: 'stream-data',
  payload,
  isFleeting: true,
  ...(taint === undefined ? {} : { taint }),
});

/**
 * Says that what a resource of this agent holds is something else by now: who listens with `onUpdate` of `toolsOf` hears of it.
 * Nobody is told what is in it. While nobody can listen, because no `toolsOf(system)` has been asked to, nothing is sent.
 */
export function resourceChanged<State>(ctx: ActorContext<State>, uri: string): void {
  requireText('uri', uri);
  const payload: UpdateMessage = { resourceUpdate: 'changed', uri };
  const desk = deskIfAny(ctx as ActorContext<never>);
  // An agent in a process of its own has no desk: its host finds out.
  if (desk === undefined) void ctx.tell(HUB, payload, { type: 'stream-data' });
  else if (desk.judge(outgoing(HUB, payload)) === undefined) desk.send(outgoing(HUB, payload));
}

function deskIfAny(ctx: ActorContext<unknown>): AgentDesk | undefined {
  return 'cell' in ctx ? deskOf(ctx) : undefined;
}

/** Calls `listener` with the URI of every resource that changes, until the returned function is called. */
export function listenToUpdates(desk: AgentDesk, listener: (uri: string) => void): () => void {
  const updates = updatesAt(desk);
  const { listeners } = updates;
  const wasEmpty = listeners.isEmpty;
  const release = listeners.add(listener);
  if (wasEmpty && !isSystemId(desk.agentId)) askHub(desk, updates);
  return () => {
    release();
    if (listeners.isEmpty) leaveHub(desk, updates);
  };
}

/** Nobody in this thread listens for the agent any more. */
export function endUpdates(desk: AgentDesk): void {
  const updates = updatesIfAny(desk);
  if (updates === undefined || updates.listeners.isEmpty) return;
  updates.listeners.clear();
  leaveHub(desk, updates);
}

/** Asks to be told, as soon as there is somebody to ask. */
function askHub(desk: AgentDesk, updates: Updates): void {
  const message = outgoing(HUB, { resourceUpdate: 'listen' });
  const isAsked = (): boolean => desk.judge(message) === undefined && desk.send(message).delivered;
  if (isAsked()) return;
  updates.unwatch ??= desk.team.watch(() => {
    if (!isAsked()) return;
    updates.unwatch?.();
    updates.unwatch = undefined;
  });
}

function leaveHub(desk: AgentDesk, updates: Updates): void {
  updates.unwatch?.();
  updates.unwatch = undefined;
  const message = outgoing(HUB, { resourceUpdate: 'leave' });
  if (!isSystemId(desk.agentId) && desk.judge(message) === undefined) desk.send(message);
}

/** Takes in what is about updates; false for anything else. */
export function takeUpdate(desk: AgentDesk, envelope: A2AEnvelope): boolean {
  const { payload, sender, metadata } = envelope;
  if (typeof payload !== 'object' || payload === null || !('resourceUpdate' in payload)) return false;
  const parsed = UpdateMessage.safeParse(payload);
  if (!parsed.success) return false;
  if (isSystemId(desk.agentId)) takeAtHub(desk, parsed.data, envelope);
  else if (parsed.data.resourceUpdate === 'changed' && sender === HUB) {
    // A listener may send something at once.
    if (metadata?.taint !== undefined) desk.takeIn(metadata.taint);
    updatesIfAny(desk)?.listeners.tell(parsed.data.uri);
  }
  return true;
}

/** The hub has nothing of what came from outside: what it passes on has its taint from whoever said it. */
function takeAtHub(desk: AgentDesk, message: UpdateMessage, { sender, metadata }: A2AEnvelope): void {
  const { listeners, agents } = updatesAt(desk);
  switch (message.resourceUpdate) {
    case 'listen':
      agents.add(sender);
      return;
    case 'leave':
      agents.delete(sender);
      return;
    case 'changed':
      listeners.tell(message.uri);
      for (const agentId of [...agents]) {
        const { errorCode } = desk.send(outgoing(agentId, message, metadata?.taint));
        if (errorCode === 'AGENT_NOT_FOUND') agents.delete(agentId);
      }
  }
}
