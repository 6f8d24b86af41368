import type { DrawnState, MachineDrawing } from 'orrery/machines';
import { activeStates } from './active-states.ts';
import { mermaidText } from './mermaid.ts';

/** A machine that is only known as data, as a Mermaid `stateDiagram-v2`; the state that it is in is marked, if it is given. */
export function statechartMermaid(drawing: MachineDrawing, activeState = ''): string {
  const ids = new Map(drawing.states.map((state, at) => [state.id, `s${at}`]));
  const { leaves } = activeStates(activeState);
  const within = (parent: string, indent: string): string[] => {
    const children = drawing.states.filter((state) => (state.parent ?? '') === parent);
    const begin = children.find(({ id }) => isBeginning(drawing, parent, id));
    return [
      ...(begin === undefined ? [] : [`${indent}[*] --> ${ids.get(begin.id)}`]),
      ...children.flatMap((state) => drawn(state, indent)),
    ];
  };
  const drawn = (state: DrawnState, indent: string): string[] => {
    const id = ids.get(state.id) ?? '';
    const mark = leaves.has(state.id) ? '● ' : '';
    const name = `${indent}state "${mark}${mermaidText(state.name, 60)}" as ${id}`;
    const hasInside = drawing.states.some(({ parent }) => parent === state.id);
    if (hasInside) return [`${name} {`, ...within(state.id, `${indent}  `), `${indent}}`];
    return [name, ...(state.type === 'final' ? [`${indent}${id} --> [*]`] : [])];
  };
  const arrows = drawing.transitions.flatMap(({ from, to, event, guard }) => {
    const begin = from === '' ? 'any' : ids.get(from);
    const end = ids.get(to);
    if (begin === undefined || end === undefined || from === to) return [];
    return [`  ${begin} --> ${end} : ${mermaidText(guard === undefined ? event : `${event} [${guard}]`)}`];
  });
  const any = arrows.some((arrow) => arrow.startsWith('  any ')) ? ['  state "any state" as any'] : [];
  const active = [...leaves].flatMap((id) => (ids.has(id) ? [`  class ${ids.get(id)} active`] : []));
  const style = active.length === 0 ? [] : ['  classDef active stroke-width:4px'];
  return `${['stateDiagram-v2', ...within('', '  '), ...any, ...arrows, ...style, ...active].join('\n')}\n`;
}

function isBeginning({ initial, states }: MachineDrawing, parent: string, id: string): boolean {
  if (parent === '') return !initial.includes(' ') && (initial === id || initial.startsWith(`${id}.`));
  return states.find((state) => state.id === parent)?.initial === id;
}
