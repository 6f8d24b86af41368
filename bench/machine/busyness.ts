import { readFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { machineBusy } from '../bench-error.ts';

/** Processor time since the machine was started, of all cores together, milliseconds. `stealMs` went to other machines. */
export interface CpuTimes {
  readonly busyMs: number;
  readonly idleMs: number;
  readonly stealMs: number;
}

/**
 * How busy the machine was with others before anything was measured.
 *
 * - `watchedMs`    how long it was watched.
 * - `othersShare`  of the time of all cores: what other processes took.
 * - `stealShare`   of the time of all cores: what a hypervisor gave to other machines.
 * - `load`         the load average of the last minute.
 * - `reasons`      why it is not quiet; none where it is.
 */
export const Busyness = z.strictObject({
  watchedMs: z.number(),
  othersShare: z.number(),
  stealShare: z.number(),
  load: z.number(),
  isQuiet: z.boolean(),
  reasons: z.array(z.string()).readonly(),
});
export type Busyness = z.infer<typeof Busyness>;

const MOST_OTHERS = 0.05;
const MOST_STEAL = 0.01;
/** Of the cores: who begins while the last build still cools down is told so. */
const MOST_LOAD = 0.5;

/** What was seen at a time: times of the machine, and processor time of this process alone. */
export interface Sight {
  readonly atMs: number;
  readonly times: CpuTimes;
  readonly ownCpuMs: number;
}

/** Judges two sights of the machine. A busy core of two is half of the time of all. */
export function busynessOf(before: Sight, after: Sight, load: number, cores: number): Busyness {
  const delta = timesBetween(before.times, after.times);
  const allMs = Math.max(1, delta.busyMs + delta.idleMs + delta.stealMs);
  const othersShare = Math.max(0, delta.busyMs - (after.ownCpuMs - before.ownCpuMs)) / allMs;
  const stealShare = delta.stealMs / allMs;
  const reasons = [
    ...(othersShare > MOST_OTHERS ? [`other processes take ${percent(othersShare)} of all cores`] : []),
    ...(stealShare > MOST_STEAL ? [`the hypervisor takes ${percent(stealShare)} of all cores`] : []),
    ...(load > MOST_LOAD * cores ? [`the load of the last minute was ${load.toFixed(1)}`] : []),
  ];
  const watchedMs = Math.round(after.atMs - before.atMs);
  return { watchedMs, othersShare, stealShare, load, isQuiet: reasons.length === 0, reasons };
}

/** Fails with MACHINE_BUSY where it is not quiet. */
export function requireQuiet({ isQuiet, reasons }: Busyness): void {
  if (!isQuiet) throw machineBusy(reasons);
}

export function timesBetween(before: CpuTimes, after: CpuTimes): CpuTimes {
  return {
    busyMs: after.busyMs - before.busyMs,
    idleMs: after.idleMs - before.idleMs,
    stealMs: after.stealMs - before.stealMs,
  };
}

export const percent = (share: number): string => `${(share * 100).toFixed(share < 0.1 ? 1 : 0)} %`;

/** Does nothing for a while, and looks what the machine did. */
export async function watchMachine(watchMs: number): Promise<Busyness> {
  const before = sight();
  await sleep(watchMs);
  return busynessOf(before, sight(), loadavg()[0] ?? 0, cpus().length);
}

export function sight(): Sight {
  const { user, system } = process.cpuUsage();
  return { atMs: performance.now(), times: cpuTimes(), ownCpuMs: (user + system) / 1_000 };
}

function cpuTimes(): CpuTimes {
  try {
    return timesIn(readFileSync('/proc/stat', 'utf8'));
  } catch {
    // Not Linux: there Node does not know what was stolen.
    const sum = (of: (times: ReturnType<typeof cpus>[number]['times']) => number): number =>
      cpus().reduce((all, { times }) => all + of(times), 0);
    const busyMs = sum(({ user, nice, sys, irq }) => user + nice + sys + irq);
    return { busyMs, idleMs: sum(({ idle }) => idle), stealMs: 0 };
  }
}

const MS_PER_TICK = 10;

/** What the first line of `/proc/stat` says; time of guests is part of that of users. */
export function timesIn(stat: string): CpuTimes {
  const [user = 0, nice = 0, system = 0, idle = 0, ioWait = 0, irq = 0, softIrq = 0, steal = 0] = (
    stat.split('\n')[0] ?? ''
  )
    .split(/\s+/)
    .slice(1)
    .map(Number);
  return {
    busyMs: (user + nice + system + irq + softIrq) * MS_PER_TICK,
    idleMs: (idle + ioWait) * MS_PER_TICK,
    stealMs: steal * MS_PER_TICK,
  };
}
