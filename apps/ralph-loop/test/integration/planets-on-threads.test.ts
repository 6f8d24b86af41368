import { startSystem, type System } from 'orrery';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  dependenciesCheck,
  errorsCheck,
  integrationsCheck,
  metricsCheck,
  realtimeCheck,
  responsiveCheck,
  schemaCheck,
  specsCheck,
  testsCheck,
  uiAccessibility,
} from '../../audit/capabilities.ts';
import { fixturePath, plantedIn, spotsOf } from '../unit/fixture.ts';

const JOBS = [
  ['charon', errorsCheck],
  ['earth', specsCheck],
  ['europa', responsiveCheck],
  ['ganymede', integrationsCheck],
  ['neptune', metricsCheck],
  ['pluto', schemaCheck],
  ['saturn', testsCheck],
  ['titan', realtimeCheck],
  ['uranus', dependenciesCheck],
  ['venus', uiAccessibility],
] as const;

let system: System;
beforeAll(async () => {
  const agents = JOBS.map(([name]) => ({
    module: new URL(`../../audit/agents/${name}.agent.ts`, import.meta.url),
    isolation: 'thread' as const,
  }));
  system = await startSystem({ agents });
});
afterAll(() => system.stop());

describe('planets on worker threads', () => {
  it.each(JOBS)('%s does its job in the pool and answers with what is planted', async (name, capability) => {
    const { findings } = await system.ask(capability, { root: fixturePath(name) });
    expect(findings.every(({ agent }) => agent === name)).toBe(true);
    expect(spotsOf(findings)).toEqual(plantedIn(fixturePath(name)));
  });

  it.each(JOBS)('%s refuses a repository that is not there', async (name, capability) => {
    const asked = system.ask(capability, { root: `${fixturePath(name)}/gone` });
    await expect(asked).rejects.toMatchObject({ message: expect.stringContaining('does not exist') });
  });
});
