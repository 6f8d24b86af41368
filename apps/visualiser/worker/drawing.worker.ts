import { expose } from 'comlink';
import type { MachineDrawing } from 'orrery/machines';
import {
  type GraphBox,
  type GraphLayout,
  type GraphLine,
  layoutGraph,
  type SvgNode,
  statechartDrawing,
  statechartMermaid,
  statechartSvg,
} from '../model/index.ts';

/** Lays out what is drawn, away from the page's own thread. */
export class Draughtsman {
  graph(boxes: readonly GraphBox[], lines: readonly GraphLine[]): GraphLayout {
    return layoutGraph(boxes, lines, { direction: 'LR', gap: 22 });
  }

  statechart(drawing: MachineDrawing, state: string): SvgNode {
    return statechartDrawing(drawing, state);
  }

  statechartFile(drawing: MachineDrawing, state: string, as: 'svg' | 'mermaid'): string {
    return as === 'svg' ? statechartSvg(drawing, state) : statechartMermaid(drawing, state);
  }
}

expose(new Draughtsman());
