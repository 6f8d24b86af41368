import { describe, expect, it } from 'vitest';
import { foundGates } from '../../../code-init/found-gates.ts';
import type { CommittedFiles } from '../../../code-init/toolchain.ts';

const MISSION = { file: 'mission.yaml', missions: [] };

const committed = (files: Readonly<Record<string, string>>): CommittedFiles => ({
  paths: new Set(Object.keys(files)),
  text: (path) => files[path] ?? '',
});

const found = (files: Readonly<Record<string, string>>) => foundGates(committed(files), MISSION);

/** Gates as `name: command`, with `*` where tests are counted. */
const gatesOf = (files: Readonly<Record<string, string>>): string[] =>
  found(files).gates.map(({ name, run, tests }) => `${name}: ${String(run)}${tests === true ? ' *' : ''}`);

const manifest = (scripts: Readonly<Record<string, string>>, more: object = {}): string =>
  JSON.stringify({ name: 'shop', scripts, ...more });

describe('foundGates', () => {
  it.each([
    ['package-lock.json', 'npm ci', 'npm test'],
    ['npm-shrinkwrap.json', 'npm ci', 'npm test'],
    ['pnpm-lock.yaml', 'pnpm install --frozen-lockfile', 'pnpm test'],
    ['yarn.lock', 'yarn install --frozen-lockfile', 'yarn test'],
    ['bun.lock', 'bun install --frozen-lockfile', 'bun run test'],
  ])('runs the script "test" with the program whose lock file is %s', (lock, setup, run) => {
    const files = { 'package.json': manifest({ test: 'vitest run' }), [lock]: '' };
    expect(found(files)).toMatchObject({ setup, makes: ['node_modules'], hasTests: true });
    expect(gatesOf(files)).toEqual([`test: ${run} *`]);
    expect(found(files).protect).toEqual(expect.arrayContaining(['package.json', lock, 'vitest.config.*']));
  });

  it('takes the installer of the newer Yarn where its settings are, and the program that package.json names', () => {
    expect(found({ 'package.json': manifest({}), 'yarn.lock': '', '.yarnrc.yml': '' }).setup).toBe(
      'yarn install --immutable',
    );
    const both = { 'package-lock.json': '', 'pnpm-lock.yaml': '' };
    expect(found({ 'package.json': manifest({}, { packageManager: 'npm@11.1.0' }), ...both }).setup).toBe(
      'npm ci',
    );
  });

  it('has what is quick before the tests, and the first name of a script that is there', () => {
    const scripts = {
      test: 'jest',
      build: 'tsc -b',
      lint: 'eslint .',
      'check:types': 'tsc',
      typecheck: 'tsc',
    };
    expect(gatesOf({ 'package.json': manifest(scripts) })).toEqual([
      'types: npm run typecheck',
      'lint: npm run lint',
      'build: npm run build',
      'test: npm test *',
    ]);
  });

  it.each([
    'node --test',
    'node --import tsx --test src',
    'cross-env CI=1 jest',
    'mocha -r ts-node/register',
    'react-scripts test',
    'npm run build && npm run test:unit',
  ])('counts the tests of "%s"', (test) => {
    const scripts = { test, build: 'tsc', 'test:unit': 'npm run -s inner', inner: 'vitest run' };
    expect(gatesOf({ 'package.json': manifest(scripts) })).toContain('test: npm test *');
  });

  it.each(['node scripts/test.js', 'karma start', 'npm run test'])(
    'says that the tests of "%s" are not counted',
    (test) => {
      const { gates, lacks } = found({ 'package.json': manifest({ test }) });
      expect(gates).toEqual([{ name: 'test', run: 'npm test' }]);
      expect(lacks.join('\n')).toContain('exit code alone decides');
    },
  );

  it('says that nothing is set up where packages have no lock file', () => {
    const { setup, lacks } = found({
      'package.json': manifest({ test: 'vitest run' }, { devDependencies: { vitest: '^4.0.0' } }),
    });
    expect(setup).toBeUndefined();
    expect(lacks.join('\n')).toContain('No lock file of packages');
  });

  it.each<[kind: string, files: Record<string, string>, gates: string[]]>([
    ['pytest', { 'pyproject.toml': '[tool.pytest.ini_options]' }, ['test: python3 -m pytest *']],
    [
      'pytest of uv',
      { 'pyproject.toml': 'pytest', 'uv.lock': '' },
      ['test: uv run --frozen python3 -m pytest *'],
    ],
    ['tox', { 'setup.py': '', 'tox.ini': '[tox]' }, ['test: tox *']],
    ['Django', { 'requirements.txt': 'django', 'manage.py': '' }, ['test: python3 manage.py test *']],
    ['unittest', { 'lib/test_a.py': '' }, ['test: python3 -m unittest discover *']],
    ['unittest in tests/', { 'tests/test_a.py': '' }, ['test: python3 -m unittest discover -s tests -t . *']],
    ['Cargo', { 'Cargo.toml': '', 'Cargo.lock': '' }, ['test: cargo test --locked *']],
    ['Go', { 'go.mod': '' }, ['vet: go vet ./...', 'test: go test ./... *']],
    ['RSpec', { Gemfile: '', 'spec/a_spec.rb': '' }, ['test: bundle exec rspec *']],
    ['rake', { Gemfile: '', Rakefile: '', 'test/a_test.rb': '' }, ['test: bundle exec rake test *']],
    ['Rails', { Gemfile: '', 'bin/rails': '', 'test/a_test.rb': '' }, ['test: bin/rails test *']],
    [
      'PHPUnit',
      { 'composer.json': '{"require-dev":{"phpunit/phpunit":"^12"}}' },
      ['test: vendor/bin/phpunit *'],
    ],
    [
      'a script of Composer',
      { 'composer.json': '{"scripts":{"test":"phpunit"}}' },
      ['test: composer test *'],
    ],
    ['Maven', { 'pom.xml': '', mvnw: '' }, ['test: ./mvnw --batch-mode test *']],
    ['Gradle, which counts nothing', { 'build.gradle.kts': '', gradlew: '' }, ['test: ./gradlew test']],
    ['.NET', { 'src/Shop.csproj': '', 'Shop.sln': '' }, ['test: dotnet test *']],
    ['Deno', { 'deno.json': '{}' }, ['test: deno test *']],
    ['make', { Makefile: 'all: a\n\ncheck: all\n\tctest --test-dir out\n' }, ['test: make check *']],
    ['make without a known runner', { Makefile: 'test:\n\t./run-tests\n' }, ['test: make test']],
  ])('knows %s', (_, files, gates) => {
    expect(gatesOf(files)).toEqual(gates);
  });

  it('takes no variable of a Makefile for a target, and asks make only where nothing else has tests', () => {
    expect(found({ Makefile: 'test := a\ncheck ::= b\n' }).hasTests).toBe(false);
    expect(gatesOf({ Makefile: 'test:\n\tgo test ./...\n', 'go.mod': '' })).not.toContain(
      'test: make test *',
    );
  });

  it('tells the gates of several toolchains apart, and sets all of them up', () => {
    const files = {
      'package.json': manifest({ test: 'vitest run' }),
      'package-lock.json': '',
      'pyproject.toml': 'pytest',
      'uv.lock': '',
    };
    expect(found(files).setup).toBe('npm ci && uv sync --frozen');
    expect(gatesOf(files)).toEqual(['test: npm test *', 'python-test: uv run --frozen python3 -m pytest *']);
  });

  it.each<[string, Record<string, string>]>([
    ['nothing', { 'README.md': '' }],
    [
      'the placeholder of npm',
      { 'package.json': manifest({ test: 'echo "Error: no test specified" && exit 1' }) },
    ],
    ['checks without tests', { 'package.json': manifest({ lint: 'eslint .' }) }],
    ['a package.json that is no JSON', { 'package.json': '{' }],
  ])('has a gate that fails where there is %s', (_, files) => {
    const { gates, hasTests } = found(files);
    expect(hasTests).toBe(false);
    const { name, run } = gates.at(-1) ?? {};
    expect(name).toBe('write-a-gate');
    expect(run).toMatch(/^echo "No test command was found .* mission\.yaml.*exit 1$/);
  });

  it('protects what decides elsewhere, and what there is to do', () => {
    const { protect } = foundGates(committed({}), { file: 'orrery.json', missions: ['prd.json'] });
    expect(protect).toEqual(expect.arrayContaining(['.github/workflows/**', 'orrery.json', 'prd.json']));
  });
});
