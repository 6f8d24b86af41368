import { readFileSync } from 'node:fs';
import { drawMachine, MACHINES } from 'orrery/machines';
import { describe, expect, it } from 'vitest';
import { machineFiles, machinesIn, machinesPage, PAGE } from '../../../.ci/machines-page.ts';
import { auditPlanets } from '../../../apps/audit/audit-planets.ts';
import { mermaidFaults } from '../../fixtures/mermaid-faults.ts';

const page = readFileSync(new URL(`../../../${PAGE}`, import.meta.url), 'utf8');
const drawings = [...page.matchAll(/```mermaid\n(.*?)```/gs)].map(([, drawing]) => drawing ?? '');

describe('docs/machines.md', () => {
  it('is what npm run docs:machines writes', async () => {
    expect(page).toBe(await machinesPage());
  });

  it('has every machine of every *.machine.ts, and of each of the 21 planets', async () => {
    const files = machineFiles();
    expect(files).toEqual(
      expect.arrayContaining(['apps/audit/planet.machine.ts', 'runtime/supervision/agent-life.machine.ts']),
    );
    for (const file of files) {
      expect(page).toContain(`](../${file})`);
      for (const [, machine] of await machinesIn(file)) expect(drawings).toContain(drawMachine(machine));
    }
    const planets = await auditPlanets();
    expect(planets).toHaveLength(21);
    for (const { options, actorLogic } of planets) {
      expect(page).toContain(`\n## ${options.id}\n`);
      expect(drawings).toContain(drawMachine(actorLogic as never));
    }
  });

  it('has only drawings that Mermaid takes, each under an id of its own', () => {
    expect(drawings.flatMap(mermaidFaults)).toEqual([]);
    const ids = [...page.matchAll(/^## (.*)$/gm)].map(([, id]) => id);
    expect(ids).toHaveLength(drawings.length);
    expect(new Set(ids).size).toBe(ids.length);
  });
});

describe('orrery/machines', () => {
  it('has every machine that a *.machine.ts of the package exports', async () => {
    const ofPackage = machineFiles().filter((file) => !file.startsWith('apps/'));
    const exported = (await Promise.all(ofPackage.map(machinesIn))).flat();
    expect(new Set(MACHINES)).toEqual(new Set(exported.map(([, machine]) => machine)));
  });
});
