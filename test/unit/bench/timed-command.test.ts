import { describe, expect, it } from 'vitest';
import { cpuIn } from '../../../bench/timed-command.ts';

describe('the processor time that a shell tells', () => {
  it('is that of its children, of the user and of the system, as each shell writes it', () => {
    expect(cpuIn('0m0.010s 0m0.020s\n1m2.500s 0m0.250s\n')).toBe(62_750);
    expect(cpuIn('0m0.00s 0m0.00s\n0m1.50s 0m0.25s\n')).toBe(1_750);
    expect(cpuIn('0m0.000000s 0m0.000000s\n0m0.500000s 2m0.000000s\n')).toBe(120_500);
  });

  it('is nothing when it tells nothing', () => {
    expect(cpuIn('')).toBe(0);
  });
});
