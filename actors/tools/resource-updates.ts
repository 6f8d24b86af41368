import { z } from 'zod';
import type { A2AEnvelope } from '../../runtime/protocol/envelope.ts';
import { requireText } from '../../runtime/protocol/parse-options.ts';
import { HOST_ID, isSystemId } from '../../runtime/protocol/policy.ts';
import type { Taint } from '../../runtime/protocol/taint.ts';
import { type ActorContext, type AgentClient, clientOf, type Outgoing } from '../../runtime/public.ts';
import { Listeners } from './listeners.ts';
import { listenerFault } from './listener-fault.ts';

/** The key under which a client holds the listeners of updates. */
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

/** What one client has to do with updates; at the hub also which agents listen. */
interface Updates {
  readonly listeners: Listeners<string>;
  readonly agents: Set<string>;
  /** Waits for the hub to be there. */
  unwatch: (() => void) | undefined;
}

const updatesIfAny = (client: AgentClient): Updates | undefined =>
  client.held.get(HELD_AS) as Updates | undefined;

function updatesAt(client: AgentClient): Updates {
  const known = updatesIfAny(client);
  if (known !== undefined) return known;
  const made: Updates = {
    listeners: new Listeners(listenerFault((event) => client.note(event))),
    agents: new Set(),
    unwatch: undefined,
  };
  client.held.set(HELD_AS, made);
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
  const client = clientIfAny(ctx as ActorContext<never>);
  // An agent in a process of its own has no client: its host sees to it.
  if (client === undefined) void ctx.tell(HUB, payload, { type: 'stream-data' });
  else if (client.judge(outgoing(HUB, payload)) === undefined) client.send(outgoing(HUB, payload));
}

function clientIfAny(ctx: ActorContext<unknown>): AgentClient | undefined {
  return 'cell' in ctx ? clientOf(ctx) : undefined;
}

/** Calls `listener` with the URI of every resource that changes, until the returned function is called. */
export function listenToUpdates(client: AgentClient, listener: (uri: string) => void): () => void {
  const updates = updatesAt(client);
  const { listeners } = updates;
  const wasEmpty = listeners.isEmpty;
  const release = listeners.add(listener);
  if (wasEmpty && !isSystemId(client.agentId)) askHub(client, updates);
  return () => {
    release();
    if (listeners.isEmpty) leaveHub(client, updates);
  };
}

/** Removes all listeners of the agent in this thread. */
export function endUpdates(client: AgentClient): void {
  const updates = updatesIfAny(client);
  if (updates === undefined || updates.listeners.isEmpty) return;
  updates.listeners.clear();
  leaveHub(client, updates);
}

/** Asks the hub for updates, as soon as the hub is there. */
function askHub(client: AgentClient, updates: Updates): void {
  const message = outgoing(HUB, { resourceUpdate: 'listen' });
  const isAsked = (): boolean => client.judge(message) === undefined && client.send(message).delivered;
  if (isAsked()) return;
  updates.unwatch ??= client.team.watch(() => {
    if (!isAsked()) return;
    updates.unwatch?.();
    updates.unwatch = undefined;
  });
}

function leaveHub(client: AgentClient, updates: Updates): void {
  updates.unwatch?.();
  updates.unwatch = undefined;
  const message = outgoing(HUB, { resourceUpdate: 'leave' });
  if (!isSystemId(client.agentId) && client.judge(message) === undefined) client.send(message);
}

/** Takes a message about updates; false for any other envelope. */
export function takeUpdate(client: AgentClient, envelope: A2AEnvelope): boolean {
  const { payload, sender, metadata } = envelope;
  if (typeof payload !== 'object' || payload === null || !('resourceUpdate' in payload)) return false;
  const parsed = UpdateMessage.safeParse(payload);
  if (!parsed.success) return false;
  if (isSystemId(client.agentId)) takeAtHub(client, parsed.data, envelope);
  else if (parsed.data.resourceUpdate === 'changed' && sender === HUB) {
    // A listener may send something at once.
    if (metadata?.taint !== undefined) client.absorbTaint(metadata.taint);
    updatesIfAny(client)?.listeners.tell(parsed.data.uri);
  }
  return true;
}

/** Handles a message at the hub, which stays untainted: what it passes on has the taint of its sender. */
function takeAtHub(client: AgentClient, message: UpdateMessage, { sender, metadata }: A2AEnvelope): void {
  const { listeners, agents } = updatesAt(client);
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
        const { errorCode } = client.send(outgoing(agentId, message, metadata?.taint));
        if (errorCode === 'AGENT_NOT_FOUND') agents.delete(agentId);
      }
  }
}
