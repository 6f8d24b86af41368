import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { scanFiles } from '../../audit/file-scan.ts';
import { hostOf, isFixedMachine, isLocal } from '../../audit/integrations/addresses.ts';
import { INTEGRATIONS_CHECK } from '../../audit/integrations/integrations-check.ts';
import { ProgressCounter } from '../../audit/progress-counter.ts';
import { fixturePath, plantedIn, spotsOf, TemporaryFolder } from './fixture.ts';

const check = (root: string) => scanFiles(root, INTEGRATIONS_CHECK, new ProgressCounter());

describe('GANYMEDE', () => {
  it('finds every careless request, address and webhook that is planted, and no decoy', async () => {
    const root = fixturePath('ganymede');
    const { findings, notes } = await check(root);
    expect(plantedIn(root).length).toBeGreaterThan(20);
    expect(spotsOf(findings)).toEqual(plantedIn(root));
    expect(notes).toEqual([]);
  });

  it('says that there is nothing to look at', async () => {
    using repo = new TemporaryFolder();
    expect((await check(repo.path)).notes).toMatchObject([{ kind: 'empty' }]);
  });

  it('names what it cannot parse', async () => {
    using repo = new TemporaryFolder();
    writeFileSync(join(repo.path, 'broken.ts'), 'fetch(');
    expect(await check(repo.path)).toMatchObject({
      findings: [],
      notes: [{ kind: 'unparsable', file: 'broken.ts' }],
    });
  });

  it.each([
    ['https://api.weather.dev/v1', true, 'api.weather.dev'],
    ['https://API.weather.dev', true, 'api.weather.dev'],
    ['https://user:word@api.weather.dev:8443', true, 'api.weather.dev'],
    ['http://[::1]:80/', true, '[::1]'],
    ['https://api.weather', false, undefined],
    ['https://api.weather.dev/', false, 'api.weather.dev'],
    ['/relative', true, undefined],
    ['mailto:somebody@weather.dev', true, undefined],
  ])('reads the host of %s', (text, isWhole, host) => {
    expect(hostOf(text, isWhole)).toBe(host);
  });

  it.each([
    ['localhost', true, false],
    ['backend', true, false],
    ['orders.internal', true, false],
    ['notlocal.dev', false, false],
    ['10.1.2.3', true, true],
    ['172.32.0.1', false, true],
    ['172.31.0.1', true, true],
    ['127.0.0.2', true, false],
    ['8.8.8.8', true, false],
    ['8.8.8.9', false, true],
    ['[2001:db8::1]', true, false],
  ])('knows whether %s is near, and whether it is one machine by number', (host, near, fixed) => {
    expect([isLocal(host), isFixedMachine(host)]).toEqual([near, fixed]);
  });
});
