import type { RosterRow } from '../../runtime/protocol/roster.ts';
import { BROADCAST } from '../../runtime/protocol/envelope.ts';
import { isSystemId } from '../../runtime/protocol/policy.ts';
import type { SystemEvent } from '../../runtime/protocol/system-event.ts';
import type { NodeState, WatchedPlace } from './watched-node.ts';

/**
 * What another node calls its agents and threads, as it is called here: its `mars` is `b/mars`, as whoever asks it from here says;
 * and what it calls `a/venus` is the `venus` of this node, `a`.
 */
export class NamesHere {
  readonly node: string;
  readonly #self: string;

  /** `self`: what this node is called there. */
  constructor(node: string, self: string) {
    this.node = node;
    this.#self = `${self}/`;
  }

  event(event: SystemEvent): SystemEvent {
    const { type, agentId, sender, recipient, targetAgentId, actorId, place = '' } = event;
    const isTakenIn = type === 'message-received' || type === 'envelope-settled';
    return {
      ...event,
      node: this.node,
      place: this.#under(place),
      ...(agentId === undefined ? {} : { agentId: this.#own(agentId) }),
      ...(sender === undefined ? {} : { sender: this.agent(sender) }),
      ...(recipient === undefined ? {} : { recipient: this.agent(recipient) }),
      ...(targetAgentId === undefined
        ? {}
        : { targetAgentId: isTakenIn ? this.#own(targetAgentId) : this.agent(targetAgentId) }),
      // A machine that is the agent itself is called like it.
      ...(actorId !== undefined && actorId === agentId ? { actorId: this.#own(agentId) } : {}),
    };
  }

  /** Its agents and threads; agents of this node that it lists are no news here. */
  state({ agents, places, ...about }: NodeState): NodeState {
    return {
      ...about,
      node: this.node,
      agents: agents.filter(({ id }) => !id.startsWith(this.#self)).map((row) => this.#row(row)),
      places: places.map((place) => this.#place(place)),
    };
  }

  /** An id with a node in it is the same everywhere but there. */
  agent(id: string): string {
    if (id === BROADCAST) return id;
    if (id.startsWith(this.#self)) return id.slice(this.#self.length);
    return id.includes('/') && !isSystemId(id) ? id : this.#under(id);
  }

  /** Of whom it tells what they do: never an agent of this node, of which it may speak only as somebody that it deals with. */
  #own(id: string): string {
    return id.startsWith(this.#self) ? this.#under(id) : this.agent(id);
  }

  #row(row: RosterRow): RosterRow {
    const { id, place, actors } = row;
    return {
      ...row,
      id: this.agent(id),
      place: this.#under(place),
      ...(actors === undefined
        ? {}
        : { actors: actors.map((actor) => (actor.id === id ? { ...actor, id: this.agent(id) } : actor)) }),
    };
  }

  #place(place: WatchedPlace): WatchedPlace {
    return { ...place, id: this.#under(place.id), agents: place.agents.map((id) => this.agent(id)) };
  }

  #under(name: string): string {
    return `${this.node}/${name}`;
  }
}
