import type { Contender } from './measurement.ts';
import type { Plugin } from './plugin.ts';

const FINDING = { file: 'runtime/mailbox/lane.ts', line: 12, evidence: ['lane.flush();'] };

const copier = (name: string, copy: (value: object) => unknown): Contender => ({
  name,
  open: async () => ({
    run: async (count) => {
      for (let left = count; left > 0; left--) copy(FINDING);
    },
    close: async () => undefined,
  }),
});

export const plugin: Plugin = {
  measurements: [
    {
      kind: 'race',
      name: 'copy',
      title: 'Copy a small object',
      unit: 'per second',
      contenders: [
        copier('JSON', (value) => JSON.parse(JSON.stringify(value))),
        copier('structuredClone', structuredClone),
      ],
      comparisons: [
        {
          contender: 'JSON',
          baseline: 'structuredClone',
          of: 'rate',
          goal: { better: 'more', target: 1 },
        },
      ],
    },
  ],
};
