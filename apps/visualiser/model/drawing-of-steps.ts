import type { DrawnState, DrawnTransition, MachineDrawing } from 'orrery/machines';
import type { MachineStep } from './scene.ts';

/** A machine of which nobody said how it is made, as far as its steps show it. */
export function drawingOfSteps(id: string, steps: readonly MachineStep[]): MachineDrawing {
  const states = new Map<string, DrawnState>();
  const transitions = new Map<string, DrawnTransition>();
  for (const { from, to, event } of steps) {
    const before = namesIn(from);
    const after = namesIn(to);
    for (const name of [...before, ...after]) enter(states, name);
    for (const one of before.length === 0 ? [''] : before)
      for (const other of after)
        if (one !== other)
          transitions.set(JSON.stringify([one, other, event]), { from: one, to: other, event });
  }
  return {
    id,
    initial: namesIn(steps[0]?.from ?? '')[0] ?? '',
    states: [...states.values()],
    transitions: [...transitions.values()],
  };
}

const namesIn = (state: string): readonly string[] => state.split(' ').filter((name) => name !== '');

/** A state, and all that it is in. */
function enter(states: Map<string, DrawnState>, id: string): void {
  const dot = id.lastIndexOf('.');
  const parent = dot > 0 ? id.slice(0, dot) : undefined;
  if (parent !== undefined) {
    enter(states, parent);
    const around = states.get(parent);
    if (around !== undefined && around.type === 'atomic') states.set(parent, { ...around, type: 'compound' });
  }
  if (!states.has(id))
    states.set(id, {
      id,
      name: id.slice(dot + 1),
      ...(parent === undefined ? {} : { parent }),
      type: 'atomic',
    });
}
