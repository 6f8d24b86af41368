import { defineAgent } from 'orrery';
import { commitFault } from './faulty-capability.ts';

export const faulty = defineAgent({
  id: 'faulty',
  name: 'Faulty',
  version: '1.0.0',
  description: 'Commits faults',
  tier: 2,
}).handle(commitFault, ({ fault }) => {
  switch (fault) {
    case 'throws':
      throw new Error('it throws');
    case 'hangs':
      return new Promise<never>(() => undefined);
    case 'exits':
      return process.exit(7);
    case 'loops':
      for (;;);
  }
});
