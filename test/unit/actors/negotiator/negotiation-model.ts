import { proposerMachine } from '../../../../actors/negotiator/proposer.machine.ts';
import { responderMachine } from '../../../../actors/negotiator/responder.machine.ts';
import { type Act, MachineWalk, type MachineState, type Step } from './machine-walk.ts';

/**
 * A proposer and those that it may ask, with everything that was ever sent between them. What was sent may be delivered at
 * any time, in any order, any number of times or never: so loss, repetition and reordering are all in.
 */
export interface Joint {
  readonly key: string;
  readonly proposer: MachineState;
  /** 'absent' before the proposal came, 'void' where it was refused before it came. */
  readonly responders: Readonly<Record<string, MachineState | 'absent' | 'void'>>;
  readonly sent: ReadonlySet<string>;
}

export interface Move {
  readonly name: string;
  /** It needs neither a message nor a decision of anybody. */
  readonly isTime: boolean;
  readonly to: Joint;
}

export interface Scenario {
  readonly asked: readonly string[];
  readonly responders: readonly string[];
  /** Who is named by whom when it declines. */
  readonly names: Readonly<Record<string, string>>;
}

const DECISIONS: Readonly<Record<string, readonly string[]>> = {
  considering: ['agent.accepts', 'agent.declines'],
  offered: ['agent.releases'],
  assigned: ['agent.releases', 'estimate.changed'],
};

const assignmentOf = (epoch: number) => ({ type: 'assignment.received', epoch, leaseLeftMs: 1 });

/** Every agent thinks that the work will take as long. */
const decisionOf = (type: string) => ({ type, estimateMs: 1 });

const message = (kind: string, agentId: string, epoch?: unknown): string =>
  epoch === undefined ? `${kind} ${agentId}` : `${kind} ${agentId} ${String(epoch)}`;

interface ToProposer {
  readonly type: 'acceptance.received' | 'rejection.received';
  readonly agentId: string;
  readonly epoch?: number;
  readonly alternative?: string;
}

/** The production machines with a network between them: what their named actions send, and what comes of a message. */
export class NegotiationModel {
  readonly proposer = new MachineWalk(proposerMachine);
  readonly responder = new MachineWalk(responderMachine);
  readonly #scenario: Scenario;

  constructor(scenario: Scenario) {
    this.#scenario = scenario;
  }

  begin(): Joint {
    const { asked, responders } = this.#scenario;
    const input = { asked, alternativesLeft: responders.length - asked.length, deadlineMs: 1, leaseMs: 1 };
    const { state, acts } = this.proposer.begin(input);
    const absent = Object.fromEntries(responders.map((id) => [id, 'absent' as const]));
    return this.#joint(state, absent, this.#send(new Set(), acts));
  }

  /** Everything that may happen next. */
  *moves(joint: Joint): Iterable<Move> {
    yield* this.#decisions(joint);
    yield* this.#times(joint);
    for (const one of joint.sent)
      yield { name: `${one} arrives`, isTime: false, to: this.#deliver(joint, one) };
  }

  *#decisions(joint: Joint): Iterable<Move> {
    const { value } = joint.proposer;
    const own =
      value === 'assigned' ? ['proposer.releases'] : joint.proposer.isDone ? [] : ['proposer.withdraws'];
    for (const type of own) yield { name: type, isTime: false, to: this.#stepProposer(joint, { type }) };
    for (const [id, responder] of Object.entries(joint.responders)) {
      if (typeof responder === 'string') continue;
      for (const type of DECISIONS[responder.value] ?? []) {
        yield { name: `${id}: ${type}`, isTime: false, to: this.#stepResponder(joint, id, decisionOf(type)) };
      }
    }
  }

  *#times(joint: Joint): Iterable<Move> {
    for (const [timer, event] of joint.proposer.armed) {
      if (timer === 'lease' && !this.#mayLeaseEnd(joint)) continue;
      const { holder } = joint.proposer.context;
      const late = timer === 'lease' ? `assign ${String(holder)} ` : undefined;
      // Whatever assignment is still on its way answers an acceptance whose lease has ended.
      const sent = new Set([...joint.sent].filter((one) => late === undefined || !one.startsWith(late)));
      yield { name: event.type, isTime: true, to: this.#stepProposer({ ...joint, sent }, event, timer) };
    }
    for (const [id, responder] of Object.entries(joint.responders)) {
      if (typeof responder === 'string') continue;
      for (const [timer, event] of responder.armed) {
        yield {
          name: `${id}: ${event.type}`,
          isTime: true,
          to: this.#stepResponder(joint, id, event, timer),
        };
      }
    }
  }

  /** The holder counts its lease from before the proposer does: it ends there first. `LeaseClock` has its own test. */
  #mayLeaseEnd({ proposer, responders }: Joint): boolean {
    const holder = responders[String(proposer.context['holder'])];
    return holder === undefined || typeof holder === 'string' || holder.value !== 'assigned';
  }

  #deliver(joint: Joint, one: string): Joint {
    const [kind = '', id = '', epoch] = one.split(' ');
    const responder = joint.responders[id] as MachineState | 'absent' | 'void';
    switch (kind) {
      case 'proposal':
        return responder === 'absent' ? this.#beginResponder(joint, id) : joint;
      case 'accept':
        return this.#toProposer(joint, {
          type: 'acceptance.received',
          agentId: id,
          ...(epoch === undefined ? {} : { epoch: Number(epoch) }),
        });
      case 'reject':
        return this.#toProposer(joint, {
          type: 'rejection.received',
          agentId: id,
          ...this.#named(joint, id),
        });
      case 'assign':
        if (typeof responder === 'string' || responder.isDone)
          return this.#with(joint, message('reject', id));
        return this.#stepResponder(joint, id, assignmentOf(Number(epoch)));
      default:
        if (responder === 'void') return joint;
        if (responder === 'absent') return this.#replace(joint, id, 'void', joint.sent);
        return this.#stepResponder(joint, id, { type: 'refusal.received' });
    }
  }

  /** Where the proposal is over, the negotiator answers in the machine's place. */
  #toProposer(joint: Joint, event: ToProposer): Joint {
    if (!joint.proposer.isDone) return this.#stepProposer(joint, event);
    return event.type === 'acceptance.received' ? this.#with(joint, message('refuse', event.agentId)) : joint;
  }

  #named(joint: Joint, id: string): { alternative?: string } {
    const alternative = this.#scenario.names[id];
    const { asked, willing, out, holder } = joint.proposer.context as Record<string, string[]>;
    const known = [...(asked ?? []), ...(willing ?? []), ...(out ?? []), String(holder)];
    return alternative === undefined || known.includes(alternative) ? {} : { alternative };
  }

  #stepProposer(joint: Joint, event: { readonly type: string }, fired?: string): Joint {
    const { state, acts } = this.proposer.step(joint.proposer, event, fired);
    return this.#joint(state, joint.responders, this.#send(joint.sent, acts));
  }

  #beginResponder(joint: Joint, id: string): Joint {
    return this.#stepped(
      joint,
      id,
      this.responder.begin({ deadlineMs: 1, holdMs: 1, repeatMs: 1, isPlain: false }),
    );
  }

  #stepResponder(joint: Joint, id: string, event: { readonly type: string }, fired?: string): Joint {
    return this.#stepped(joint, id, this.responder.step(joint.responders[id] as MachineState, event, fired));
  }

  #stepped(joint: Joint, id: string, { state, acts }: Step): Joint {
    const sent = new Set(joint.sent);
    for (const { type, context } of acts) {
      if (type === 'tellAccepted') sent.add(message('accept', id, context['epoch']));
      if (type === 'tellRejected') sent.add(message('reject', id));
    }
    return this.#replace(joint, id, state, sent);
  }

  #send(sent: ReadonlySet<string>, acts: readonly Act[]): ReadonlySet<string> {
    const after = new Set(sent);
    for (const act of acts) for (const one of sentBy(act)) after.add(one);
    return after;
  }

  #with(joint: Joint, one: string): Joint {
    return this.#joint(joint.proposer, joint.responders, new Set([...joint.sent, one]));
  }

  #replace(
    joint: Joint,
    id: string,
    responder: MachineState | 'absent' | 'void',
    sent: ReadonlySet<string>,
  ): Joint {
    return this.#joint(joint.proposer, { ...joint.responders, [id]: responder }, sent);
  }

  #joint(proposer: MachineState, responders: Joint['responders'], sent: ReadonlySet<string>): Joint {
    const keys = Object.values(responders).map((one) => (typeof one === 'string' ? one : one.key));
    return { key: [proposer.key, ...keys, [...sent].sort().join()].join(' | '), proposer, responders, sent };
  }
}

/** What a named action of the proposer sends. */
function sentBy({ type, context, event }: Act): string[] {
  const { asked, willing, holder, epoch } = context as {
    asked: string[];
    willing: string[];
    holder: string | undefined;
    epoch: number;
  };
  switch (type) {
    case 'askEverybody':
      return asked.map((id) => message('proposal', id));
    case 'askAlternative':
      return [message('proposal', String(event['alternative']))];
    case 'tellHolder':
      return [message('assign', String(holder), epoch)];
    case 'refuseOthers':
      return [...asked, ...willing].map((id) => message('refuse', id));
    case 'refuseSender':
      return [message('refuse', String(event['agentId']))];
    case 'refuseHolder':
      return holder === undefined ? [] : [message('refuse', holder)];
    default:
      throw new Error(`The model does not know the action ${type}`);
  }
}
