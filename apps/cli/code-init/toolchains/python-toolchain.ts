import { type CommittedFiles, present, type Toolchain } from '../toolchain.ts';

const PROJECT = ['pyproject.toml', 'setup.py', 'setup.cfg', 'requirements.txt', 'tox.ini', 'pytest.ini'];
const TEST_FILE = /(?:^|\/)(?:test_[^/]*|[^/]*_test)\.py$/;

/** Lock files by the program that installs what they say, and that runs a program with it. */
const INSTALLERS = [
  { lock: 'uv.lock', setup: 'uv sync --frozen', run: 'uv run --frozen ', makes: ['.venv'] },
  // In the worktree: its usual folder is shared by all worktrees of one name.
  {
    lock: 'poetry.lock',
    setup: 'POETRY_VIRTUALENVS_IN_PROJECT=true poetry install',
    run: 'POETRY_VIRTUALENVS_IN_PROJECT=true poetry run ',
    makes: ['.venv'],
  },
  {
    lock: 'Pipfile.lock',
    setup: 'PIPENV_VENV_IN_PROJECT=1 pipenv sync --dev',
    run: 'PIPENV_VENV_IN_PROJECT=1 pipenv run ',
    makes: ['.venv'],
  },
] as const;

/** A project of Python: pytest, tox, Django or unittest. */
export function pythonToolchain(files: CommittedFiles): Toolchain | undefined {
  const manifests = present(files, ...PROJECT);
  const tests = [...files.paths].filter((path) => TEST_FILE.test(path));
  if (manifests.length === 0 && tests.length === 0) return undefined;
  const installer = INSTALLERS.find(({ lock }) => files.paths.has(lock));
  const run = testCommand(files, { tests, prefix: installer?.run ?? '' });
  return {
    id: 'python',
    found: [...manifests, ...(installer === undefined ? [] : [installer.lock])],
    ...(installer === undefined ? {} : { setup: installer.setup }),
    makes: installer?.makes ?? [],
    gates: run === undefined ? [] : [{ name: 'test', run, tests: true }],
    protect: [...manifests, ...(installer === undefined ? [] : [installer.lock]), 'pytest.ini', 'tox.ini'],
    lacks:
      installer === undefined
        ? [
            'No lock file of packages is committed (uv.lock, poetry.lock, Pipfile.lock): gates get those of your Python',
          ]
        : [],
  };
}

interface HowToTest {
  readonly tests: readonly string[];
  readonly prefix: string;
}

function testCommand(files: CommittedFiles, { tests, prefix }: HowToTest): string | undefined {
  const said = [...PROJECT, 'requirements-dev.txt', 'Pipfile'].map((name) => files.text(name)).join('\n');
  const hasPytest =
    /\bpytest\b/.test(said) ||
    [...files.paths].some((path) => /(?:^|\/)(?:conftest\.py|pytest\.ini)$/.test(path));
  if (hasPytest) return `${prefix}python3 -m pytest`;
  if (files.paths.has('tox.ini')) return `${prefix}tox`;
  if (files.paths.has('manage.py')) return `${prefix}python3 manage.py test`;
  if (tests.length === 0) return undefined;
  return tests.every((path) => path.startsWith('tests/'))
    ? `${prefix}python3 -m unittest discover -s tests -t .`
    : `${prefix}python3 -m unittest discover`;
}
