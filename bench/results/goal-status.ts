import { z } from 'zod';
import type { Goal } from '../measurement.ts';

/** Where a value stands against its goal. */
export const GoalStatus = z.enum(['reached', 'above floor', 'below target', 'BELOW FLOOR', 'no goal']);
export type GoalStatus = z.infer<typeof GoalStatus>;

export function goalStatusOf(value: number, goal: Goal | undefined): GoalStatus {
  if (goal === undefined) return 'no goal';
  const meets = (limit: number): boolean => (goal.better === 'more' ? value >= limit : value <= limit);
  if (goal.floor !== undefined && !meets(goal.floor)) return 'BELOW FLOOR';
  if (goal.target === undefined || meets(goal.target)) return 'reached';
  return goal.floor === undefined ? 'below target' : 'above floor';
}
