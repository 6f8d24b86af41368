import { procUsage } from './proc-usage.ts';
import { familyOf } from './process-family.ts';

/** Processor time that each process of a family has used since it began, milliseconds, by its number. */
export type FamilyUsage = ReadonlyMap<number, number>;

/** What the family of a process has used; nothing where there is no `/proc`. */
export const familyUsage = (head: number | undefined, mark: string): FamilyUsage =>
  new Map(familyOf(head, mark).map((pid) => [pid, procUsage(pid)?.cpuMs ?? 0]));

/** Processor time that a family has used between two looks, milliseconds. Of who has ended meanwhile nothing is known. */
export function usedBetween(before: FamilyUsage, after: FamilyUsage): number {
  return [...after].reduce((sum, [pid, cpuMs]) => sum + Math.max(0, cpuMs - (before.get(pid) ?? 0)), 0);
}
