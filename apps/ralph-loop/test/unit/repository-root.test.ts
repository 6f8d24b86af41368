import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { repositoryRoot } from '../../findings/repository-root.ts';
import { TemporaryFolder } from './temporary-folder.ts';

describe('the repository to audit', () => {
  it('is a folder by its real path', async () => {
    using folder = new TemporaryFolder();
    const real = join(folder.path, 'real');
    mkdirSync(real);
    symlinkSync(real, join(folder.path, 'link'));
    expect(await repositoryRoot(join(folder.path, 'link'))).toEqual({ root: real });
  });

  it('is refused by name when it is not there or no folder', async () => {
    using folder = new TemporaryFolder();
    const [missing, file] = [join(folder.path, 'missing'), join(folder.path, 'file')];
    writeFileSync(file, '');
    expect(await repositoryRoot(missing)).toEqual({ refusal: `The repository ${missing} does not exist` });
    expect(await repositoryRoot(join(file, 'below'))).toEqual({
      refusal: `The repository ${join(file, 'below')} does not exist`,
    });
    expect(await repositoryRoot(file)).toEqual({ refusal: `The repository ${file} is not a directory` });
  });
});
