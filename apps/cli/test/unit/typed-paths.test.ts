import { describe, expect, it } from 'vitest';
import { readCommandLine } from '../../command-line.ts';
import { asFrom, folderOfUser } from '../../typed-paths.ts';

const read = (line: string) => {
  const typed = readCommandLine(line.split(' '));
  if (typed.kind !== 'command') throw new Error(`"${line}" is no command`);
  return asFrom('/repo/docs', typed);
};

describe('where the user stands', () => {
  const env = {
    INIT_CWD: '/repo/docs',
    npm_lifecycle_event: 'start',
    npm_package_json: '/repo/package.json',
  };
  const folder = (over: NodeJS.ProcessEnv = {}, cwd = '/repo') =>
    folderOfUser({ env: { ...env, ...over }, cwd }, '/repo/');

  it('is where npm start was typed', () => {
    expect(folder()).toBe('/repo/docs');
  });

  it('is where the command runs, when it is started otherwise', () => {
    expect(folder({ npm_lifecycle_event: 'test' })).toBeUndefined();
    expect(folder({ npm_package_json: '/theirs/package.json' })).toBeUndefined();
    expect(folder({}, '/tmp')).toBeUndefined();
    expect(folder({ npm_package_json: undefined, INIT_CWD: undefined })).toBeUndefined();
  });
});

describe('paths that were typed', () => {
  it('begin where the user stands; what is no path stays as it is', () => {
    const { options, positionals } = read(
      'run ../m.json --repo recipes --json=r.json --html /tmp/r.html --agents a.ts,/b.ts --fail-on high --quiet',
    );
    expect(positionals).toEqual(['/repo/m.json']);
    expect(options).toEqual({
      ...{ repo: '/repo/docs/recipes', json: '/repo/docs/r.json', html: '/tmp/r.html' },
      ...{ agents: '/repo/docs/a.ts,/b.ts', 'fail-on': 'high', quiet: true },
    });
  });

  it('are not made up: without --repo the repository is the root', () => {
    expect(read('run')).toEqual({ options: {}, positionals: [] });
  });
});
