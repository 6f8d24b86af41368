import { readFileSync } from 'node:fs';
import { availableParallelism, cpus, release, totalmem, type as osType } from 'node:os';
import { dirname, join } from 'node:path';
import { z } from 'zod';

/**
 * Where it was measured.
 *
 * - `cores`        of the machine.
 * - `usableCores`  this process may use, by its affinity and its control group.
 * - `cpuLimit`     cores that its control groups allow it, if they do not allow all.
 * - `governor`     how the kernel sets the frequency of the first core, if it says so.
 */
export const Machine = z.strictObject({
  cpuModel: z.string(),
  cores: z.int(),
  usableCores: z.int(),
  cpuLimit: z.number().optional(),
  memoryBytes: z.number(),
  kernel: z.string(),
  platform: z.string(),
  arch: z.string(),
  governor: z.string().optional(),
});
export type Machine = z.infer<typeof Machine>;

export function thisMachine(): Machine {
  const cpuLimit = cpuLimitBy(textOf);
  const governor = textOf('/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor')?.trim();
  return {
    cpuModel: cpus()[0]?.model.trim() ?? 'unknown',
    cores: cpus().length,
    usableCores: availableParallelism(),
    ...(cpuLimit === undefined ? {} : { cpuLimit }),
    memoryBytes: totalmem(),
    kernel: `${osType()} ${release()}`,
    platform: process.platform,
    arch: process.arch,
    ...(governor === undefined ? {} : { governor }),
  };
}

/** Whether both are the same machine, as far as can be told. Memory and kernel may differ by little. */
export const isSameMachine = (a: Machine, b: Machine): boolean =>
  a.cpuModel === b.cpuModel &&
  a.cores === b.cores &&
  a.usableCores === b.usableCores &&
  a.cpuLimit === b.cpuLimit &&
  a.arch === b.arch;

/** The text of a file; undefined where there is none. */
type ReadText = (path: string) => string | undefined;

const GROUPS = '/sys/fs/cgroup';

/** The smallest limit of this process's control group and of those above it, cores; undefined where there is none. */
export function cpuLimitBy(read: ReadText): number | undefined {
  const lines = (read('/proc/self/cgroup') ?? '').split('\n');
  const second = lines.find((line) => line.startsWith('0::'))?.slice('0::'.length);
  const limits = second === undefined ? [] : pathsUpFrom(second).map((path) => secondLimit(read, path));
  const smallest = Math.min(...[...limits, firstLimit(read)].filter((limit) => limit !== undefined));
  return Number.isFinite(smallest) ? smallest : undefined;
}

/** `/a/b`, `/a`, `/`. */
function pathsUpFrom(path: string): readonly string[] {
  const above = dirname(path);
  return above === path ? [path] : [path, ...pathsUpFrom(above)];
}

/** Of version 2: quota and period, or `max` and a period. */
function secondLimit(read: ReadText, group: string): number | undefined {
  const [quota, period] = (read(join(GROUPS, group, 'cpu.max')) ?? '').trim().split(' ').map(Number);
  return coresOf(quota, period);
}

/** Of version 1, as a container sees its own group; -1 is none. */
function firstLimit(read: ReadText): number | undefined {
  const numberIn = (name: string): number => Number(read(join(GROUPS, 'cpu', name)) ?? Number.NaN);
  return coresOf(numberIn('cpu.cfs_quota_us'), numberIn('cpu.cfs_period_us'));
}

function coresOf(quota = Number.NaN, period = Number.NaN): number | undefined {
  return quota > 0 && period > 0 ? quota / period : undefined;
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
