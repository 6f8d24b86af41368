import { describe, expect, it } from 'vitest';
import type { MachineState } from './machine-walk.ts';
import { type Joint, NegotiationModel, type Scenario } from './negotiation-model.ts';

interface Named extends Scenario {
  readonly name: string;
  /** How many states there are to see, at least. */
  readonly states: number;
}

const SCENARIOS: readonly Named[] = [
  {
    name: 'two are asked',
    asked: ['one', 'two'],
    responders: ['one', 'two'],
    names: {},
    states: 8_000,
  },
  {
    name: 'one is asked, and names another',
    asked: ['one'],
    responders: ['one', 'two'],
    names: { one: 'two' },
    states: 700,
  },
  {
    name: 'two are asked, and one names a third',
    asked: ['one', 'two'],
    responders: ['one', 'two', 'three'],
    names: { one: 'three' },
    states: 60_000,
  },
];

interface Seen {
  readonly joint: Joint;
  /** From which state, by which move. */
  readonly from: readonly [key: string, move: string] | undefined;
  /** States from which time alone leads here. */
  readonly before: string[];
}

/** Far more than there are: what grows beyond it has no end. */
const MANY = 200_000;

/** Every joint state that can be reached, breadth first. */
function explore(model: NegotiationModel): Map<string, Seen> {
  const first = model.begin();
  const seen = new Map<string, Seen>([[first.key, { joint: first, from: undefined, before: [] }]]);
  const queue = [first];
  for (let at = 0; at < queue.length; at++) {
    const joint = queue[at] as Joint;
    for (const { name, isTime, to } of model.moves(joint)) {
      let known = seen.get(to.key);
      if (known === undefined) {
        known = { joint: to, from: [joint.key, name], before: [] };
        seen.set(to.key, known);
        queue.push(to);
        if (queue.length > MANY)
          throw new Error(`There are more than ${MANY} states: ${story(seen, to.key)}`);
      }
      if (isTime) known.before.push(joint.key);
    }
  }
  return seen;
}

/** How a state was reached, for whoever has to understand a failure. */
function story(seen: Map<string, Seen>, key: string): string {
  const moves: string[] = [];
  for (let at: string | undefined = key; at !== undefined; ) {
    const from: Seen['from'] = seen.get(at)?.from;
    if (from !== undefined) moves.unshift(from[1]);
    at = from?.[0];
  }
  return moves.join(' > ');
}

const HAD_IT = ['assigned', 'givenBack', 'takenBack', 'lapsed'];
const isOver = (responder: Joint['responders'][string]): boolean =>
  responder === 'void' || responder === 'absent' || responder.isDone;
const stateOf = (responder: Joint['responders'][string] | undefined): string =>
  responder === undefined ? 'nobody' : typeof responder === 'string' ? responder : responder.value;

/** What must never be; undefined when all is well. */
function fault({ proposer, responders }: Joint): string | undefined {
  const holders = Object.entries(responders).filter(([, one]) => stateOf(one) === 'assigned');
  if (holders.length > 1) return 'two agents have the task';
  const [held] = holders.map(([id]) => id);
  const { holder, epoch } = proposer.context as { holder?: string; epoch: number };
  const isNobodys = ['rejected', 'timedOut'].includes(proposer.value);
  if (isNobodys && held !== undefined) return `nobody got it, and ${held} has it`;
  const isDecided = ['assigned', 'givenBack', 'released', 'lapsed'].includes(proposer.value);
  if (!isDecided) return undefined;
  if (!HAD_IT.includes(stateOf(responders[holder ?? '']))) return `${holder} was given it, and does not know`;
  if (held !== undefined && held !== holder) return `${holder} was given it, and ${held} has it`;
  const rival = Object.entries(responders).find(
    ([id, one]) =>
      id !== holder &&
      HAD_IT.includes(stateOf(one)) &&
      Number((one as MachineState).context['epoch']) >= epoch,
  );
  return rival === undefined ? undefined : `${rival[0]} had it too`;
}

const WALKS = SCENARIOS.map((scenario) => {
  const model = new NegotiationModel(scenario);
  return { ...scenario, model, seen: explore(model) };
});

describe('Proposer and responders explored together (F-07)', () => {
  it.each(WALKS)('never come to two different outcomes: $name', ({ seen, states }) => {
    for (const [key, { joint }] of seen) {
      const what = fault(joint);
      if (what !== undefined) throw new Error(`${what}: ${story(seen, key)}`);
    }
    expect(seen.size).toBeGreaterThanOrEqual(states);
  });

  it.each(WALKS)('have a timer set wherever they are not over: $name', ({ seen }) => {
    const waiting = [...seen.values()].find(({ joint: { proposer, responders } }) =>
      [proposer, ...Object.values(responders)].some(
        (one) => typeof one !== 'string' && one.isDone !== (one.armed.size === 0),
      ),
    );
    expect(waiting === undefined ? '' : story(seen, waiting.joint.key)).toBe('');
  });

  it.each(WALKS)('end from everywhere, even if no message arrives any more: $name', ({ seen }) => {
    const ending = [...seen.values()].filter(
      ({ joint }) => joint.proposer.isDone && Object.values(joint.responders).every(isOver),
    );
    const reached = new Set(ending.map(({ joint }) => joint.key));
    const queue = [...reached];
    for (let at = 0; at < queue.length; at++) {
      for (const before of seen.get(queue[at] as string)?.before ?? []) {
        if (reached.has(before)) continue;
        reached.add(before);
        queue.push(before);
      }
    }
    const stuck = [...seen.keys()].find((key) => !reached.has(key));
    expect(stuck === undefined ? '' : story(seen, stuck)).toBe('');
    expect(reached.size).toBe(seen.size);
  });

  it('take every transition of both machines, but for those who do not speak the protocol', () => {
    for (const side of ['proposer', 'responder'] as const) {
      const names = WALKS.flatMap(({ model }) => {
        const all = model[side].transitions();
        return [...model[side].taken].map((one) => all.get(one));
      });
      const [first] = WALKS;
      const all = [...(first as (typeof WALKS)[number]).model[side].transitions().values()];
      const spoken = all.filter((name) => !name.includes('Plain'));
      expect([...new Set(names)].sort()).toEqual([...new Set(spoken)].sort());
    }
  });

  it('come to every end that either of them has', () => {
    const ends = WALKS.flatMap(({ seen }) =>
      [...seen.values()].flatMap(({ joint }) => [
        joint.proposer.value,
        ...Object.values(joint.responders).map(stateOf),
      ]),
    );
    expect([...new Set(ends)].sort()).toEqual(
      [
        'absent',
        'void',
        'open',
        'confirming',
        'assigned',
        'rejected',
        'timedOut',
        'withdrawn',
        'givenBack',
        'released',
        'lapsed',
        'considering',
        'offered',
        'declined',
        'refused',
        'expired',
        'takenBack',
      ].sort(),
    );
  });
});
