import type { Reporter, TestModule, Vitest } from 'vitest/node';
import { citedInTitles, idsIn, listedRequirements } from './cited-requirements.ts';

/**
 * Fails a run in which a requirement that docs/requirements.md calls done has no test that ran and passed: of those whose
 * every citing file was run, so that a part of the tests can be run alone.
 */
export class RequirementsReporter implements Reporter {
  #vitest: Vitest | undefined;

  onInit(vitest: Vitest): void {
    this.#vitest = vitest;
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    if (this.#vitest === undefined || this.#vitest.config.testNamePattern !== undefined) return;
    const unshown = unshownBy(modules);
    if (unshown.length === 0) return;
    process.exitCode ||= 1;
    process.stdout.write(
      `docs/requirements.md calls done what no test showed that ran and passed: ${unshown.join(', ')}\n`,
    );
  }
}

function unshownBy(modules: readonly TestModule[]): string[] {
  const ran = new Set(modules.map(({ moduleId }) => moduleId));
  const shown = new Set<string>();
  for (const module of modules)
    for (const test of module.children.allTests('passed'))
      for (const id of idsIn(test.fullName)) shown.add(id);
  const cited = citedInTitles();
  return [...listedRequirements()]
    .filter(([id, state]) => state === 'done' && !shown.has(id))
    .map(([id]) => id)
    .filter((id) => {
      // A suite runs in whichever file takes it up.
      const files = [...(cited.get(id) ?? [])];
      return files.length > 0 && files.every((file) => ran.has(file));
    });
}
