import { drawingOf, MACHINES } from 'orrery/machines';
import { describe, expect, it } from 'vitest';
import {
  drawingOfSteps,
  layoutGraph,
  readDrawing,
  statechartMermaid,
  statechartSvg,
} from '../../model/index.ts';
import { mermaidFaults } from '../../../../test/fixtures/mermaid-faults.ts';

const drawings = MACHINES.map((machine) => [machine.id, drawingOf(machine)] as const);

describe('a statechart (F-08)', () => {
  it.each(drawings)('of %s has every state, and marks the active one by more than colour', (_id, drawing) => {
    const svg = statechartSvg(drawing, drawing.initial);
    for (const { id } of drawing.states) expect(svg).toContain(`data-state="${id}"`);
    expect(svg.match(/● /g)).toHaveLength(drawing.initial.split(' ').length);
    expect(svg).toContain('class="box active"');
    expect(svg).not.toContain('NaN');
    expect(statechartSvg(drawing)).not.toContain('● ');
  });

  it.each(drawings)('of %s is Mermaid that Mermaid takes', (_id, drawing) => {
    const lines = statechartMermaid(drawing, drawing.initial).split('\n');
    const withoutStyle = lines.filter((line) => !/^ {2}(classDef|class) /.test(line)).join('\n');
    expect(mermaidFaults(withoutStyle.replaceAll('● ', ''))).toEqual([]);
    expect(lines).toContain('  classDef active stroke-width:4px');
  });

  it('reads a drawing of somebody else as far as it makes sense', () => {
    const drawing = readDrawing({
      id: '__proto__',
      initial: 'a',
      states: [
        { id: 'a', name: '<b>', parent: 'nobody' },
        { id: 'b', parent: 'c' },
        { id: 'c', parent: 'b' },
        { id: '__proto__' },
        5,
      ],
      transitions: [
        { from: '__proto__', to: '__proto__', event: 'x' },
        { from: 'a', to: 'b', event: 'y' },
        null,
      ],
    });
    expect(drawing?.states.map(({ id }) => id)).toEqual(['__proto__']);
    expect(drawing?.transitions).toHaveLength(1);
    expect(statechartSvg(drawing ?? drawings[0]?.[1] ?? never(), 'nowhere.at all')).toContain('<svg');
  });

  it('draws a machine of what it did, if nobody says how it is made', () => {
    const step = (from: string, to: string, event: string) => ({ atMs: 1, from, to, event });
    const drawing = drawingOfSteps('own', [
      step('idle', 'work.list', 'given'),
      step('work.list', 'idle', 'done'),
    ]);
    expect(drawing.states.map(({ id, type }) => `${id} ${type}`)).toEqual([
      'idle atomic',
      'work compound',
      'work.list atomic',
    ]);
    expect(drawing.transitions).toHaveLength(2);
    expect(statechartSvg(drawing, 'work.list')).toContain('class="frame within"');
  });

  it('lays out boxes whose names objects have of themselves', () => {
    const boxes = ['__proto__', 'constructor', 'x'].map((id) => ({ id, width: 10, height: 10 }));
    const { boxes: laid, lines } = layoutGraph(boxes, [
      { from: '__proto__', to: 'constructor' },
      { from: 'x', to: 'nobody' },
    ]);
    expect([...laid.keys()]).toEqual(['__proto__', 'constructor', 'x']);
    expect(lines).toHaveLength(1);
  });
});

function never(): never {
  throw new Error('there is a drawing');
}
