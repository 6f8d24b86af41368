import type { DrawnState, DrawnTransition, MachineDrawing } from 'orrery/machines';
import { activeStates } from './active-states.ts';
import { type GraphLine, layoutGraph, type Point } from './layout-graph.ts';
import { shownText } from './shown-text.ts';
import { arrowTip, round, type SvgNode, svg, svgText, textWidth } from './svg.ts';

const LINE = 15;
const PAD = 12;
const HEAD = 24;
const MAX_LABELS = 3;
const MAX_STAYS = 4;

/** The statechart of a machine as the text of an SVG file; the state that it is in is marked, if it is given. */
export const statechartSvg = (drawing: MachineDrawing, activeState?: string): string =>
  svgText(statechartDrawing(drawing, activeState));

/** The statechart as a drawing. Every box of a state has `data-state`. */
export function statechartDrawing(drawing: MachineDrawing, activeState = ''): SvgNode {
  const chart = new Chart(drawing, activeState);
  return chart.draw();
}

/** A box that was laid out: a state, the dot it begins from, or `any state` of a frame. */
interface Box {
  readonly id: string;
  readonly width: number;
  readonly height: number;
  readonly paint: (middle: Point) => SvgNode;
  /** What is inside, from its own upper left corner. */
  readonly inside: Placed | undefined;
}

interface Placed {
  readonly width: number;
  readonly height: number;
  readonly boxes: readonly { readonly box: Box; readonly middle: Point }[];
  readonly lines: readonly {
    readonly arrow: Arrow;
    readonly points: readonly Point[];
    readonly label: Point | undefined;
  }[];
}

/** All transitions between the same two boxes. */
interface Arrow {
  readonly from: string;
  readonly to: string;
  readonly labels: string[];
}

const START = '\u0000start';
const ANY = '\u0000any';

class Chart {
  readonly #drawing: MachineDrawing;
  readonly #states: ReadonlyMap<string, DrawnState>;
  readonly #leaves: ReadonlySet<string>;
  readonly #around: ReadonlySet<string>;
  readonly #arrows: readonly Arrow[];
  readonly #absolute = new Map<string, { readonly middle: Point; readonly box: Box }>();

  constructor(drawing: MachineDrawing, activeState: string) {
    this.#drawing = drawing;
    this.#states = new Map(drawing.states.map((state) => [state.id, state]));
    const { leaves, around } = activeStates(activeState);
    this.#leaves = leaves;
    this.#around = around;
    this.#arrows = this.#gather(drawing.transitions);
  }

  draw(): SvgNode {
    const placed = this.#place('');
    const parts = this.#paint(placed, { x: 0, y: 0 });
    const width = Math.ceil(placed.width);
    const height = Math.ceil(placed.height);
    const name = shownText(this.#drawing.id, 80);
    const at = [...this.#leaves].join(' and ');
    const title =
      at === '' ? `State machine ${name}` : `State machine ${name}, in state ${shownText(at, 200)}`;
    return svg(
      'svg',
      {
        viewBox: `0 0 ${width} ${height}`,
        width,
        height,
        role: 'img',
        'aria-label': title,
        class: 'statechart',
      },
      svg('title', {}, title),
      ...parts,
    );
  }

  /** Transitions between the same two are one arrow; those of a frame into itself begin at `any state` within it. */
  #gather(transitions: readonly DrawnTransition[]): Arrow[] {
    const arrows = new Map<string, Arrow>();
    for (const { from, to: named, event, guard, delayed } of transitions) {
      const to = this.#beginningFor(from, named);
      if (from === named || from === to || to === '') continue;
      const isInward = from === '' || to.startsWith(`${from}.`);
      const begin = isInward ? `${from}${ANY}` : from;
      const key = `${begin}\u0001${to}`;
      const arrow = arrows.get(key) ?? { from: begin, to, labels: [] };
      arrow.labels.push(labelOf(event, guard, delayed));
      arrows.set(key, arrow);
    }
    return [...arrows.values()];
  }

  /** A state that leads to one that it is in leads to where that begins. */
  #beginningFor(from: string, to: string): string {
    let at = to;
    while (at !== '' && from.startsWith(`${at}.`)) at = this.#states.get(at)?.initial ?? '';
    return at;
  }

  #childrenOf(parent: string): DrawnState[] {
    return this.#drawing.states.filter((state) => (state.parent ?? '') === parent);
  }

  #parentOf(id: string): string {
    if (id.endsWith(ANY)) return id.slice(0, -ANY.length);
    if (id.endsWith(START)) return id.slice(0, -START.length);
    return this.#states.get(id)?.parent ?? '';
  }

  /** The ids of what a box is in, itself first, the whole machine last. */
  #upwards(id: string): string[] {
    const path = [id];
    while (path.at(-1) !== '' && path.length < 100) path.push(this.#parentOf(path.at(-1) ?? ''));
    return path;
  }

  /** Lays out what is in a frame; the whole machine is ''. */
  #place(parent: string): Placed {
    const boxes = this.#childrenOf(parent).map((state) => this.#box(state));
    const lines: { arrow: Arrow; from: string; to: string }[] = [];
    for (const arrow of this.#arrows) {
      const ends = this.#endsIn(parent, arrow);
      if (ends !== undefined) lines.push({ arrow, ...ends });
    }
    if (this.#arrows.some(({ from }) => from === `${parent}${ANY}`))
      boxes.push(anyBox(`${parent}${ANY}`, parent));
    for (const initial of this.#initialOf(parent)) {
      const from = `${parent}${START}`;
      boxes.push(startBox(from));
      lines.push({ arrow: { from, to: initial, labels: [] }, from, to: initial });
    }
    const {
      width,
      height,
      boxes: middles,
      lines: ways,
    } = layoutGraph(
      boxes,
      lines.map(({ arrow, from, to }): GraphLine => ({ from, to, ...sizeOf(arrow) })),
    );
    return {
      width,
      height,
      boxes: boxes.map((box) => ({ box, middle: middles.get(box.id) ?? { x: 0, y: 0 } })),
      lines: lines.map(({ arrow }, at) => ({
        arrow,
        points: ways[at]?.points ?? [],
        label: ways[at]?.label,
      })),
    };
  }

  /** Where a frame begins, if that is one of what is in it. */
  #initialOf(parent: string): string[] {
    if (this.#states.get(parent)?.type === 'parallel') return [];
    const named =
      parent === '' ? (this.#drawing.initial.split(' ')[0] ?? '') : (this.#states.get(parent)?.initial ?? '');
    if (parent === '' && this.#drawing.initial.includes(' ')) return [];
    const inside = this.#upwards(named).find((id) => this.#states.has(id) && this.#parentOf(id) === parent);
    return inside === undefined ? [] : [inside];
  }

  /** The two boxes of a frame that an arrow is between, or inside of; none if it does not belong there. */
  #endsIn(parent: string, { from, to }: Arrow): { readonly from: string; readonly to: string } | undefined {
    const begin = this.#upwards(from);
    const end = this.#upwards(to);
    const one = begin[begin.indexOf(parent) - 1];
    const other = end[end.indexOf(parent) - 1];
    if (!begin.includes(parent) || !end.includes(parent) || one === undefined || other === undefined)
      return undefined;
    return one === other ? undefined : { from: one, to: other };
  }

  #box(state: DrawnState): Box {
    const children = this.#childrenOf(state.id);
    const name = this.#shownName(state);
    const stays = this.#staysOf(state.id);
    if (children.length > 0) return this.#frame(state, name, stays);
    const width = Math.max(
      64,
      textWidth(name, 13) + 2 * PAD,
      ...stays.map((one) => textWidth(one, 10) + 2 * PAD),
    );
    const height = 30 + stays.length * 13;
    const className = `box ${this.#leaves.has(state.id) ? 'active' : ''}`.trim();
    return {
      id: state.id,
      width,
      height,
      inside: undefined,
      paint: ({ x, y }) => {
        const left = round(x - width / 2);
        const top = round(y - height / 2);
        return svg(
          'g',
          { 'data-state': state.id },
          ...(state.description === undefined ? [] : [svg('title', {}, shownText(state.description, 300))]),
          svg('rect', { class: className, x: left, y: top, width, height, rx: 8 }),
          ...(state.type === 'final'
            ? [
                svg('rect', {
                  class: 'frame',
                  x: left + 4,
                  y: top + 4,
                  width: width - 8,
                  height: height - 8,
                  rx: 5,
                }),
              ]
            : []),
          svg('text', { x: round(x), y: top + 20, 'text-anchor': 'middle', 'font-size': 13 }, name),
          ...stays.map((one, at) =>
            svg(
              'text',
              {
                class: 'quiet',
                x: round(x),
                y: top + 35 + at * 13,
                'text-anchor': 'middle',
                'font-size': 10,
              },
              one,
            ),
          ),
        );
      },
    };
  }

  #frame(state: DrawnState, name: string, stays: readonly string[]): Box {
    const inside = this.#place(state.id);
    const width = Math.max(inside.width, textWidth(name, 13) + 2 * PAD) + 8;
    const head = HEAD + stays.length * 13;
    const height = inside.height + head + 6;
    const isIn = this.#around.has(state.id) || this.#leaves.has(state.id);
    const className = ['frame', state.type === 'parallel' ? 'region' : '', isIn ? 'within' : ''];
    return {
      id: state.id,
      width,
      height,
      inside,
      paint: ({ x, y }) => {
        const left = round(x - width / 2);
        const top = round(y - height / 2);
        return svg(
          'g',
          { 'data-state': state.id },
          svg('rect', {
            class: className.filter((one) => one !== '').join(' '),
            x: left,
            y: top,
            width,
            height,
            rx: 10,
          }),
          svg('text', { x: left + PAD, y: top + 18, 'font-size': 13 }, name),
          ...stays.map((one, at) =>
            svg('text', { class: 'quiet', x: left + PAD, y: top + 32 + at * 13, 'font-size': 10 }, one),
          ),
          ...this.#paint(inside, { x: left + (width - inside.width) / 2, y: top + head }),
        );
      },
    };
  }

  #shownName(state: DrawnState): string {
    const name = shownText(state.name, 40);
    if (state.type === 'history') return `${name} (history)`;
    return this.#leaves.has(state.id) ? `● ${name}` : name;
  }

  /** The events that a state takes without being left. */
  #staysOf(id: string): string[] {
    const all = this.#drawing.transitions
      .filter(({ from, to }) => from === id && to === id)
      .map(({ event, guard, delayed }) => `↻ ${labelOf(event, guard, delayed)}`);
    const once = [...new Set(all)];
    return once.length <= MAX_STAYS
      ? once
      : [...once.slice(0, MAX_STAYS - 1), `↻ and ${once.length - MAX_STAYS + 1} more`];
  }

  /** The boxes and then the lines of a frame: a line may end at a box deep inside another. */
  #paint(placed: Placed, { x, y }: Point): SvgNode[] {
    for (const { box, middle } of placed.boxes)
      this.#absolute.set(box.id, { box, middle: { x: x + middle.x, y: y + middle.y } });
    const boxes = placed.boxes.map(({ box, middle }) => box.paint({ x: x + middle.x, y: y + middle.y }));
    const lines = placed.lines.map(({ arrow, points, label }) =>
      this.#line(arrow, {
        points: points.map((point) => ({ x: x + point.x, y: y + point.y })),
        label: label === undefined ? undefined : { x: x + label.x, y: y + label.y },
      }),
    );
    return [...boxes, ...lines];
  }

  #line(
    { from, to, labels }: Arrow,
    { points, label }: { readonly points: readonly Point[]; readonly label: Point | undefined },
  ): SvgNode {
    const begin = this.#absolute.get(from);
    const end = this.#absolute.get(to);
    const middle = points.slice(1, -1);
    const first = middle[0] ?? points.at(-1);
    const last = middle.at(-1) ?? points[0];
    const way = [
      ...(begin === undefined || first === undefined ? points.slice(0, 1) : [borderOf(begin, first)]),
      ...middle,
      ...(end === undefined || last === undefined ? points.slice(-1) : [borderOf(end, last)]),
    ];
    const tip = way.at(-1) ?? { x: 0, y: 0 };
    const shown = shownLabels(labels);
    return svg(
      'g',
      {},
      svg('path', { class: 'line', d: smooth(way) }),
      arrowTip(tip, way.at(-2) ?? tip),
      ...shown.map((text, at) =>
        svg(
          'text',
          {
            class: 'quiet halo',
            x: round(label?.x ?? tip.x),
            y: round((label?.y ?? tip.y) + 4 + (at - (shown.length - 1) / 2) * LINE),
            'text-anchor': 'middle',
            'font-size': 11,
          },
          text,
        ),
      ),
    );
  }
}

const labelOf = (event: string, guard: string | undefined, delayed: boolean | undefined): string =>
  shownText(`${delayed === true ? 'timer: ' : ''}${event}${guard === undefined ? '' : ` [${guard}]`}`, 60);

function shownLabels(labels: readonly string[]): readonly string[] {
  const once = [...new Set(labels)];
  return once.length <= MAX_LABELS
    ? once
    : [...once.slice(0, MAX_LABELS - 1), `and ${once.length - MAX_LABELS + 1} more`];
}

function sizeOf({ labels }: Arrow): { readonly width?: number; readonly height?: number } {
  const shown = shownLabels(labels);
  if (shown.length === 0) return {};
  return { width: Math.max(...shown.map((one) => textWidth(one, 11))) + 8, height: shown.length * LINE + 4 };
}

const startBox = (id: string): Box => ({
  id,
  width: 12,
  height: 12,
  inside: undefined,
  paint: ({ x, y }) => svg('circle', { class: 'dot', cx: round(x), cy: round(y), r: 6 }),
});

function anyBox(id: string, parent: string): Box {
  const name =
    parent === '' ? 'in any state' : `in any state of ${shownText(parent.split('.').at(-1) ?? parent, 30)}`;
  const width = textWidth(name, 11) + 2 * PAD;
  return {
    id,
    width,
    height: 22,
    inside: undefined,
    paint: ({ x, y }) =>
      svg(
        'g',
        {},
        svg('rect', {
          class: 'frame region',
          x: round(x - width / 2),
          y: round(y - 11),
          width,
          height: 22,
          rx: 11,
        }),
        svg(
          'text',
          { class: 'quiet', x: round(x), y: round(y + 4), 'text-anchor': 'middle', 'font-size': 11 },
          name,
        ),
      ),
  };
}

/** Where the border of a box is crossed on the way from its middle to a point. */
function borderOf({ middle, box }: { readonly middle: Point; readonly box: Box }, toward: Point): Point {
  const dx = toward.x - middle.x;
  const dy = toward.y - middle.y;
  if (dx === 0 && dy === 0) return middle;
  const scale = Math.min(
    dx === 0 ? Number.POSITIVE_INFINITY : box.width / 2 / Math.abs(dx),
    dy === 0 ? Number.POSITIVE_INFINITY : box.height / 2 / Math.abs(dy),
  );
  return { x: middle.x + dx * scale, y: middle.y + dy * scale };
}

/** A line through points whose corners are rounded. */
function smooth(points: readonly Point[]): string {
  const [first, ...rest] = points;
  if (first === undefined) return '';
  let path = `M${round(first.x)},${round(first.y)}`;
  rest.forEach((point, at) => {
    const next = rest[at + 1];
    if (next === undefined) path += ` L${round(point.x)},${round(point.y)}`;
    else
      path += ` Q${round(point.x)},${round(point.y)} ${round((point.x + next.x) / 2)},${round((point.y + next.y) / 2)}`;
  });
  return path;
}
