import { type CommittedFiles, present, type Toolchain } from '../toolchain.ts';
import { countedRunner } from './counted-runner.ts';

/** A project of Ruby: RSpec, or the task `test` of rake. */
export function rubyToolchain(files: CommittedFiles): Toolchain | undefined {
  if (!files.paths.has('Gemfile')) return undefined;
  const hasLock = files.paths.has('Gemfile.lock');
  const under = (folder: string): boolean => [...files.paths].some((path) => path.startsWith(`${folder}/`));
  const run = under('spec')
    ? 'bundle exec rspec'
    : files.paths.has('bin/rails') && under('test')
      ? 'bin/rails test'
      : under('test') && files.paths.has('Rakefile')
        ? 'bundle exec rake test'
        : undefined;
  return {
    id: 'ruby',
    found: ['Gemfile', ...present(files, 'Gemfile.lock')],
    ...(hasLock ? { setup: 'BUNDLE_FROZEN=true bundle install' } : {}),
    makes: [],
    gates: run === undefined ? [] : [{ name: 'test', run, tests: true }],
    protect: ['Gemfile', 'Gemfile.lock', '.rspec', ...present(files, 'Rakefile')],
    lacks: hasLock
      ? []
      : ['No Gemfile.lock is committed, so there is no setup: gates get the gems of your Ruby'],
  };
}

/** A project of PHP with Composer: its script `test`, Pest or PHPUnit. */
export function phpToolchain(files: CommittedFiles): Toolchain | undefined {
  if (!files.paths.has('composer.json')) return undefined;
  const text = files.text('composer.json');
  const hasLock = files.paths.has('composer.lock');
  const run = /"test"\s*:/.test(text)
    ? 'composer test'
    : /"pestphp\/pest"/.test(text)
      ? 'vendor/bin/pest'
      : /"phpunit\/phpunit"/.test(text)
        ? 'vendor/bin/phpunit'
        : undefined;
  const isCounted = run !== undefined && /phpunit|pest/.test(text);
  return {
    id: 'php',
    found: ['composer.json', ...present(files, 'composer.lock')],
    ...(hasLock ? { setup: 'composer install --no-interaction' } : {}),
    makes: hasLock ? ['vendor'] : [],
    gates: run === undefined ? [] : [{ name: 'test', run, ...(isCounted ? { tests: true } : {}) }],
    protect: ['composer.json', 'composer.lock', 'phpunit.xml*'],
    lacks: hasLock ? [] : ['No composer.lock is committed, so there is no setup'],
  };
}

/** A project of Deno. */
export function denoToolchain(files: CommittedFiles): Toolchain | undefined {
  const manifests = present(files, 'deno.json', 'deno.jsonc');
  if (manifests.length === 0) return undefined;
  const hasTask = manifests.some((name) => /"test"\s*:/.test(files.text(name)));
  return {
    id: 'deno',
    found: manifests,
    makes: [],
    gates: [{ name: 'test', run: hasTask ? 'deno task test' : 'deno test', tests: true }],
    protect: [...manifests, ...present(files, 'deno.lock')],
    lacks: [],
  };
}

/** Targets `test` or `check` of a Makefile. Which tests they run, their recipe may say. */
export function makeToolchain(files: CommittedFiles): Toolchain | undefined {
  const [file] = present(files, 'GNUmakefile', 'makefile', 'Makefile');
  if (file === undefined) return undefined;
  const text = files.text(file);
  const target = ['test', 'check'].find((name) => new RegExp(`^${name}[ \\t]*:(?!:{0,2}=)`, 'm').test(text));
  if (target === undefined) return undefined;
  const recipe = new RegExp(`^${target}[ \\t]*:.*\\n(?:\\t.*\\n?)*`, 'm').exec(text)?.[0] ?? '';
  const runner = countedRunner(recipe);
  return {
    id: 'make',
    found: [`${file}, target ${target}`],
    makes: [],
    gates: [{ name: 'test', run: `make ${target}`, ...(runner === undefined ? {} : { tests: true }) }],
    protect: [file, ...(runner?.configuration ?? [])],
    lacks:
      runner === undefined
        ? [
            `No test runner whose tests are counted is named at the target "${target}", so its exit code alone decides`,
          ]
        : [],
  };
}
