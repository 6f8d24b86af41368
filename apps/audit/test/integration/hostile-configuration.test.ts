import { describe, expect, it } from 'vitest';
import { allTools } from '../../all-tools.ts';
import { careless } from '../planted/careless.tool.ts';
import { runOnHostileRepository } from '../hostile-repository.ts';
import { SAMPLES } from '../samples.ts';

const tools = await allTools();

describe('a repository that plants settings, plug-ins, packages and programs', () => {
  it.each(tools.map((tool) => [tool.name, tool] as const))(
    'has nothing executed by %s',
    async (_name, tool) => {
      const taken = Object.keys(SAMPLES).filter(tool.takes);
      expect(taken, 'a sample that it takes').not.toEqual([]);
      const { executed, outcome } = await runOnHostileRepository(tool);
      expect(executed).toEqual([]);
      expect(outcome).toHaveProperty('report');
    },
  );

  it('has everything executed by a tool that is careless', async () => {
    const { executed } = await runOnHostileRepository(careless);
    expect(executed).toEqual(
      expect.arrayContaining(['stylelint.config.mjs', '.eslintrc.js', '.git/core.fsmonitor.sh']),
    );
  });
});
