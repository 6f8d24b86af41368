import { Graph, layout } from '@dagrejs/dagre';

export interface GraphBox {
  readonly id: string;
  readonly width: number;
  readonly height: number;
}

/** A line between two boxes; `width` and `height` of the text on it, if there is any. */
export interface GraphLine {
  readonly from: string;
  readonly to: string;
  readonly width?: number;
  readonly height?: number;
}

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** Where boxes have their middle, and where lines run; `label` is where a line's text has its middle. */
export interface GraphLayout {
  readonly width: number;
  readonly height: number;
  readonly boxes: ReadonlyMap<string, Point>;
  readonly lines: readonly { readonly points: readonly Point[]; readonly label: Point | undefined }[];
}

/** Lays boxes out in layers, so that most lines lead one way. A line to a box that is not there is left out. */
export function layoutGraph(
  boxes: readonly GraphBox[],
  lines: readonly GraphLine[],
  { direction = 'TB', gap = 36 }: { readonly direction?: 'TB' | 'LR'; readonly gap?: number } = {},
): GraphLayout {
  const graph = new Graph({ multigraph: true });
  graph.setGraph({ rankdir: direction, nodesep: gap, ranksep: gap + 8, edgesep: 18, marginx: 8, marginy: 8 });
  // The graph keeps its nodes as fields of an object, so they are named by numbers: an id may be any text.
  const numbers = new Map(boxes.map(({ id }, at) => [id, String(at)]));
  const numberOf = (id: string): string => numbers.get(id) ?? '';
  const drawn = lines.filter(({ from, to }) => numbers.has(from) && numbers.has(to));
  for (const { id, width, height } of boxes) graph.setNode(numberOf(id), { width, height });
  drawn.forEach(({ from, to, width = 0, height = 0 }, at) => {
    graph.setEdge(numberOf(from), numberOf(to), { width, height, labelpos: 'c' }, String(at));
  });
  layout(graph);
  const size = graph.graph() as { readonly width?: number; readonly height?: number };
  return {
    width: size.width ?? 0,
    height: size.height ?? 0,
    boxes: new Map(
      boxes.map(({ id }) => {
        const { x, y } = graph.node(numberOf(id)) as Point;
        return [id, { x, y }];
      }),
    ),
    lines: drawn.map(({ from, to, width = 0 }, at) => {
      const edge = graph.edge(numberOf(from), numberOf(to), String(at)) as {
        readonly points?: readonly Point[];
      } & Partial<Point>;
      const { x, y, points = [] } = edge;
      return { points, label: width === 0 || x === undefined || y === undefined ? undefined : { x, y } };
    }),
  };
}
