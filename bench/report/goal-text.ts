import type { Goal } from '../measurement.ts';

/** What a goal asks for: `target >= 1.1x, floor 0.9x`; empty without one. */
export function goalText(goal: Goal | undefined, suffix: string): string {
  if (goal === undefined) return '';
  const sign = goal.better === 'more' ? '>=' : '<=';
  const target = goal.target === undefined ? '' : `target ${sign} ${goal.target}${suffix}`;
  const floor =
    goal.floor === undefined || goal.floor === goal.target ? '' : `floor ${sign} ${goal.floor}${suffix}`;
  return [target, floor].filter((part) => part !== '').join(', ');
}
