import { describe, expect, it } from 'vitest';
import { cpuLimitBy, isSameMachine, thisMachine } from '../../../bench/machine/machine.ts';
import { descendantsOf, processOf } from '../../../bench/machine/process-table.ts';

const limitIn = (files: Readonly<Record<string, string>>): number | undefined =>
  cpuLimitBy((path) => files[path]);

describe('cpuLimitBy', () => {
  it('is the smallest of a control group and those above it', () => {
    const files = {
      '/proc/self/cgroup': '0::/user/bench\n',
      '/sys/fs/cgroup/user/bench/cpu.max': 'max 100000\n',
      '/sys/fs/cgroup/user/cpu.max': '150000 100000\n',
      '/sys/fs/cgroup/cpu.max': '400000 100000\n',
    };
    expect(limitIn(files)).toBe(1.5);
  });

  it('reads the first version of control groups', () => {
    const files = {
      '/proc/self/cgroup': '4:cpu,cpuacct:/\n',
      '/sys/fs/cgroup/cpu/cpu.cfs_quota_us': '50000\n',
      '/sys/fs/cgroup/cpu/cpu.cfs_period_us': '100000\n',
    };
    expect(limitIn(files)).toBe(0.5);
  });

  it('is unknown where nothing is limited, or nothing says so', () => {
    expect(limitIn({})).toBeUndefined();
    expect(limitIn({ '/sys/fs/cgroup/cpu/cpu.cfs_quota_us': '-1\n' })).toBeUndefined();
    const unlimited = { '/proc/self/cgroup': '0::/\n', '/sys/fs/cgroup/cpu.max': 'max 100000\n' };
    expect(limitIn(unlimited)).toBeUndefined();
  });
});

describe('isSameMachine', () => {
  const machine = thisMachine();

  it('does not mind another kernel or a little memory', () => {
    expect(isSameMachine(machine, { ...machine, kernel: 'Linux 7', memoryBytes: 1 })).toBe(true);
  });

  it('minds the processor, the cores and the limit', () => {
    expect(isSameMachine(machine, { ...machine, cpuModel: 'another' })).toBe(false);
    expect(isSameMachine(machine, { ...machine, usableCores: 99 })).toBe(false);
    expect(isSameMachine(machine, { ...machine, cpuLimit: 0.1 })).toBe(false);
  });
});

describe('the table of processes', () => {
  const stat = (parent: number): string =>
    `7 (a (strange) name) S ${parent} 5 5 0 -1 4194560 1 0 0 0 120 30 0 0 20 0 11 0 900 1000000 256 1844`;

  it('reads a process whose name holds parentheses and spaces', () => {
    expect(processOf(7, stat(3))).toEqual({
      pid: 7,
      parent: 3,
      group: 5,
      startedAt: 900,
      cpuMs: 1_500,
      bytes: 1_048_576,
    });
  });

  it('finds those that stem from one, over several generations', () => {
    const processIn = (pid: number, parent: number) => ({ ...processOf(pid, stat(parent)), pid });
    const all = [processIn(1, 0), processIn(2, 1), processIn(3, 2), processIn(4, 1), processIn(5, 3)];
    expect(descendantsOf(all, 2).map(({ pid }) => pid)).toEqual([3, 5]);
  });
});
