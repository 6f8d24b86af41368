import { REPOSITORY_ROOT } from '@orrery/ralph-loop';
import { auditPlanets } from './audit-planets.ts';
import { LIST_REPOSITORY, runOf, toolsOf } from './planet.ts';
import { listRepository } from './list-repository.ts';
import { runTool, type ToolOutcome } from './run-tool.ts';

/**
 * Makes the effects of planets for a simulation. The tools of those planets that offer one of `capabilities` are really run,
 * once, on the repository at `root`, a real path.
 */
export async function auditEffects(
  root: string,
  capabilities: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<Record<string, () => unknown>> {
  const listed = await listRepository(root, signal);
  const outcomes = new Map<string, ToolOutcome>();
  for (const definition of await auditPlanets()) {
    if (![...definition.handlers.keys()].some((id) => capabilities.has(id))) continue;
    for (const tool of toolsOf(definition)) {
      const files = listed.files.map(({ path }) => path).filter(tool.takes);
      const options = { agent: definition.options.id, signal, progress: () => undefined };
      if (files.length > 0)
        outcomes.set(runOf(tool), await runTool(tool, { root, files, input: {} }, options));
    }
  }
  return {
    [REPOSITORY_ROOT]: () => ({ root }),
    [LIST_REPOSITORY]: () => structuredClone(listed),
    ...Object.fromEntries([...outcomes].map(([name, outcome]) => [name, () => structuredClone(outcome)])),
  };
}
