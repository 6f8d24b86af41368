import type { AnyStateMachine, AnyStateNode } from 'xstate';

/**
 * Draws a machine as a Mermaid `stateDiagram-v2`, of its definition alone: nothing of it is run.
 *
 * An arrow is `event [guard] / actions`; `after` and `always` stand in the place of an event. It leads to the very state in
 * which one is then. In a state's box stand its tags, what it invokes, its entry and exit actions, and the events that it takes
 * without leaving it. A state with states in it is a frame; what it does itself stands in a box inside, `any state`, where its
 * arrows begin too: Mermaid draws few of those that begin or end at a frame.
 */
export function drawMachine(machine: AnyStateMachine): string {
  const drawing = new Drawing(machine.root);
  return `${['stateDiagram-v2', ...drawing.lines().map((line) => `  ${line}`)].join('\n')}\n`;
}

export type Transition = AnyStateNode['always'] extends readonly (infer One)[] | undefined ? One : never;

/** An arrow between two ids. */
interface Arrow {
  readonly from: string;
  readonly to: string;
  readonly label: string;
}

class Drawing {
  readonly #root: AnyStateNode;
  readonly #ids = new Map<AnyStateNode, string>();
  readonly #taken = new Set<string>();
  /** Between states of different boxes: Mermaid takes a state for one of the box in which an arrow names it. */
  readonly #across: Arrow[] = [];

  constructor(root: AnyStateNode) {
    this.#root = root;
    this.#name(root);
  }

  lines(): string[] {
    const root = this.#root;
    const inside = isComposite(root) ? this.#inside(root) : this.#leaf(root);
    return [...inside, ...this.#across.map(arrow)];
  }

  /** An id for each state: its path, of letters that Mermaid takes, and none of its keywords. */
  #name(node: AnyStateNode): void {
    const path = node.path.length === 0 ? node.key : node.path.join('_');
    this.#ids.set(node, this.#freeId(path));
    for (const child of childrenOf(node)) this.#name(child);
  }

  #freeId(wanted: string): string {
    const plain = wanted.replace(/[^A-Za-z0-9_]/g, '_');
    let id = RESERVED.has(plain.toLowerCase()) ? `${plain}_` : plain;
    for (let number = 2; this.#taken.has(id); number++) id = `${plain}_${number}`;
    this.#taken.add(id);
    return id;
  }

  #idOf(node: AnyStateNode): string {
    return this.#ids.get(node) as string;
  }

  /** What stands in the box of a state with states in it; for the root, in the whole. */
  #inside(node: AnyStateNode): string[] {
    const children = childrenOf(node);
    const isParallel = node.type === 'parallel';
    const boxes = children.map((child) => this.#box(child));
    const whole = this.#whole(node);
    const between = isParallel ? ['--'] : [];
    return [
      ...(isParallel ? [] : this.#beginnings(node)),
      ...boxes.flatMap((box, at) => (at === 0 ? box : [...between, ...box])),
      ...(whole.length === 0 ? [] : [...between, ...whole]),
      ...this.#arrowsAmong(children),
    ];
  }

  #box(node: AnyStateNode): string[] {
    if (!isComposite(node)) return this.#leaf(node);
    const inside = this.#inside(node).map((line) => `  ${line}`);
    return [`state ${quoted(node.key)} as ${this.#idOf(node)} {`, ...inside, '}'];
  }

  #leaf(node: AnyStateNode): string[] {
    const id = this.#idOf(node);
    const name = node.type === 'history' ? `${node.key} (${node.history || 'shallow'} history)` : node.key;
    return [
      `state ${quoted(name)} as ${id}`,
      ...this.#about(node).map((line) => `${id} : ${escaped(line)}`),
      ...(node.type === 'final' ? [`${id} --> [*]`] : []),
    ];
  }

  /** What a state with states in it does as a whole, if anything. */
  #whole(node: AnyStateNode): string[] {
    const about = this.#about(node);
    const outgoing = this.#outgoing(node);
    if (about.length === 0 && outgoing.length === 0) return [];
    const id = this.#freeId(`${this.#idOf(node)}_any`);
    for (const { to, label } of outgoing) this.#across.push({ from: id, to: this.#idOf(to), label });
    return [
      `state ${quoted(node === this.#root ? 'any state' : `any state of ${node.key}`)} as ${id}`,
      ...about.map((line) => `${id} : ${escaped(line)}`),
    ];
  }

  #about(node: AnyStateNode): string[] {
    const tags = [...node.tags].sort();
    const invoked = node.invoke.map(({ src }) => nameOf(src));
    return [
      ...(tags.length === 0 ? [] : [`tags ${tags.join(', ')}`]),
      ...(invoked.length === 0 ? [] : [`invokes ${invoked.join(', ')}`]),
      ...doing('entry', node.entry),
      ...doing('exit', node.exit),
      ...transitionsOf(node)
        .filter(({ target }) => target === undefined)
        .map((transition) =>
          transition.actions.length === 0
            ? `ignores ${labelOf(node, transition)}`
            : labelOf(node, transition),
        ),
    ];
  }

  /** Where one comes to from a state. */
  #outgoing(node: AnyStateNode): { readonly to: AnyStateNode; readonly label: string }[] {
    return transitionsOf(node).flatMap((transition) =>
      (transition.target ?? [])
        .flatMap((target) => beginningsOf(target as AnyStateNode))
        .map((to) => ({ to, label: labelOf(node, transition) })),
    );
  }

  #beginnings(node: AnyStateNode): string[] {
    const targets = (node.config.initial === undefined ? [] : (node.initial.target ?? [])) as AnyStateNode[];
    // Of a frame in a frame it cannot be said from outside where it begins: it says so itself.
    const first = targets.flatMap((one) =>
      node === this.#root ? beginningsOf(one) : [childToward(node, one)],
    );
    return [...new Set(first)].map((to) => `[*] --> ${this.#idOf(to)}`);
  }

  /** The arrows between these states; those that lead further are kept for the end. */
  #arrowsAmong(children: readonly AnyStateNode[]): string[] {
    const among = new Set(children);
    const lines: string[] = [];
    for (const child of children) {
      if (isComposite(child)) continue;
      for (const { to, label } of this.#outgoing(child)) {
        const one = { from: this.#idOf(child), to: this.#idOf(to), label };
        if (among.has(to) && child.parent?.type !== 'parallel') lines.push(arrow(one));
        else this.#across.push(one);
      }
    }
    return lines;
  }
}

const RESERVED: ReadonlySet<string> = new Set(
  'as class classdef click default direction end fork hide join note scale state style title acctitle accdescr choice'.split(
    ' ',
  ),
);

export const childrenOf = (node: AnyStateNode): readonly AnyStateNode[] => Object.values(node.states);
const isComposite = (node: AnyStateNode): boolean => childrenOf(node).length > 0;

/** The child of `node` in which `below` is. */
function childToward(node: AnyStateNode, below: AnyStateNode): AnyStateNode {
  let at = below;
  while (at.parent !== undefined && at.parent !== node) at = at.parent;
  return at;
}

/** Where one is when one comes to a state: in it, or in those that it begins with. */
export function beginningsOf(target: AnyStateNode): readonly AnyStateNode[] {
  if (!isComposite(target)) return [target];
  const inside = target.type === 'parallel' ? childrenOf(target) : (target.initial.target ?? []);
  return inside.flatMap((one) => beginningsOf(one as AnyStateNode));
}

/** In the order of the definition: on events, on what is invoked, after delays; then what happens at once. */
export const transitionsOf = (node: AnyStateNode): readonly Transition[] => [
  ...[...node.transitions.values()].flat(),
  ...(node.always ?? []),
  ...(node.type === 'history' ? [historyDefault(node)] : []),
];

/** Where a history state leads as long as there is no history. */
function historyDefault(node: AnyStateNode): Transition {
  const parent = node.parent as AnyStateNode;
  const { target: named } = node.config as { readonly target?: string };
  const target = named === undefined ? parent.initial.target : [stateAt(parent, named)];
  return { eventType: HISTORY, target, actions: [] as readonly unknown[] } as Transition;
}

function stateAt(parent: AnyStateNode, named: string): AnyStateNode {
  if (named.startsWith('#')) return parent.machine.getStateNodeById(named.slice(1));
  return named.split('.').reduce((at, key) => at.states[key] as AnyStateNode, parent);
}

const HISTORY = 'xstate.history';

function labelOf(node: AnyStateNode, { eventType, guard, actions }: Transition): string {
  const when = eventOf(node, eventType);
  const only = guard === undefined ? '' : ` [${guardName(guard)}]`;
  return `${when}${only}${actions.length === 0 ? '' : ` / ${namesOf(actions)}`}`;
}

/** The event's name for a reader: XState's own have the ids of states in them. */
export function eventOf(node: AnyStateNode, eventType: string): string {
  if (eventType === '') return 'always';
  if (eventType === '*') return 'any other event';
  if (eventType === HISTORY) return 'without history';
  const delayed = node.after.find((one) => one.eventType === eventType);
  if (delayed !== undefined) return `after ${delayOf(delayed.delay)}`;
  const invoked = /^xstate\.(done\.actor|error\.actor|snapshot)\.(.*)$/s.exec(eventType);
  if (invoked !== null) {
    const src = node.invoke.find(({ id }) => id === invoked[2])?.src;
    const actor = src === undefined ? invoked[2] : nameOf(src);
    return `${actor} ${ACTOR_WORDS[invoked[1] as keyof typeof ACTOR_WORDS]}`;
  }
  return eventType.startsWith('xstate.done.state.') ? 'all done' : eventType;
}

const ACTOR_WORDS = { 'done.actor': 'done', 'error.actor': 'failed', snapshot: 'changed' } as const;

const delayOf = (delay: unknown): string => (typeof delay === 'number' ? `${delay} ms` : nameOf(delay));

/** What XState does for a delay is no action of the machine's. */
function doing(when: 'entry' | 'exit', actions: readonly unknown[]): string[] {
  const own = actions.filter((action) => !isForDelay(action as Named));
  return own.length === 0 ? [] : [`${when} / ${namesOf(own)}`];
}

const isForDelay = ({ id, sendId }: Named): boolean => String(id ?? sendId).startsWith('xstate.after.');

const namesOf = (all: readonly unknown[]): string => all.map(nameOf).join(', ');

/** What XState has of actions, guards and actors: objects, and functions with fields. */
interface Named {
  readonly type?: unknown;
  readonly id?: unknown;
  readonly sendId?: unknown;
  readonly name?: string;
  readonly guards?: readonly unknown[];
  readonly stateValue?: unknown;
}

/** By its name in the machine; XState's own without their prefix. */
function nameOf(named: unknown): string {
  const name = typeof named === 'string' ? named : (named as Named | undefined)?.type;
  // What is written in the place where it is used is named by XState after that, or not at all.
  if (typeof name !== 'string' || /^(inline:|xstate\.invoke\.|\d+\.)/.test(name)) return '(unnamed)';
  return name.replace(/^xstate\./, '');
}

export function guardName(guard: unknown): string {
  const { name, guards, stateValue } = guard as Named;
  if (stateValue !== undefined)
    return `in ${typeof stateValue === 'string' ? stateValue : JSON.stringify(stateValue)}`;
  if (guards === undefined) return nameOf(guard);
  const inner = guards.map(guardName);
  return name === 'not' ? `not ${inner[0]}` : `(${inner.join(` ${name} `)})`;
}

const arrow = ({ from, to, label }: Arrow): string => `${from} --> ${to} : ${escaped(label)}`;
const quoted = (name: string): string => `"${escaped(name)}"`;

/** What means something to Mermaid or HTML stands there by its number. */
const escaped = (text: string): string =>
  text.replace(/[^\p{L}\p{N} _.,/()[\]'*+=!?@|-]/gu, (sign) => `#${sign.codePointAt(0)};`);
