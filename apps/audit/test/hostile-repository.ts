import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { runTool, type ToolOutcome } from '../run-tool.ts';
import type { Tool } from '../tool.ts';
import { SAMPLES } from './samples.ts';

/** Names of modules that some tool looks for and loads; with each of the endings in which it may be written. */
const MODULES = [
  ...['eslint', 'oxlint', 'stylelint', 'knip', 'html-validate', 'vite', 'vitest', 'jest', 'postcss', 'babel'],
  ...['prettier', 'webpack', 'rollup', 'rolldown', 'tailwind', 'next', 'nuxt', 'svelte', 'astro', 'drizzle'],
  ...[
    'commitlint',
    'lint-staged',
    'playwright',
    'cypress',
    'remark',
    'secretlint',
    'redocly',
    'spectral',
    'ava',
  ],
  ...['tsup', 'tsdown', 'metro', 'expo', 'gatsby', 'release', 'cspell', 'markdownlint', 'unocss', 'wdio'],
].map((name) => `${name}.config`);
const DOTTED = [
  ...['.eslintrc', '.oxlintrc', '.stylelintrc', '.remarkrc', '.secretlintrc', '.htmlvalidate', '.babelrc'],
  ...[
    '.dependency-cruiser',
    '.postcssrc',
    '.prettierrc',
    '.mocharc',
    '.lintstagedrc',
    '.commitlintrc',
    '.knip',
  ],
  ...[
    '.spectral',
    '.cspell',
    '.releaserc',
    '.markdownlint',
    '.puppeteerrc',
    '.nycrc',
    '.swcrc',
    '.npmpackagejsonlintrc',
  ],
];
const BARE = [
  'knip',
  'karma.conf',
  'gulpfile',
  'Gruntfile',
  '.pnpfile',
  'babel',
  'metro',
  'app',
  'ember-cli-build',
];
const ENDINGS = ['js', 'cjs', 'mjs', 'ts', 'cts', 'mts'];

/** Settings that name a module to be loaded, by the keys that tools know. */
const NAMING = (module: string): Record<string, unknown> => ({
  extends: [module],
  plugins: [module],
  jsPlugins: [module],
  elements: [module],
  customSyntax: module,
  processors: [module],
  rules: [{ id: module }],
  entry: ['**/*.js'],
  presets: [module],
  transform: [module],
  require: module,
  customLanguages: { evil: { libraryPath: `${module}.so`, extensions: ['ts', 'js'] } },
});
const SETTINGS = [
  ...[
    '.eslintrc.json',
    '.oxlintrc.json',
    '.oxlintrc.jsonc',
    '.stylelintrc',
    '.stylelintrc.json',
    '.remarkrc',
  ],
  ...[
    '.remarkrc.json',
    '.secretlintrc',
    '.secretlintrc.json',
    '.htmlvalidate.json',
    '.dependency-cruiser.json',
  ],
  ...['knip.json', 'knip.jsonc', '.knip.json', '.babelrc', '.babelrc.json', '.postcssrc', '.postcssrc.json'],
  ...['redocly.yaml', '.redocly.yaml', '.spectral.yaml', '.spectral.json', 'sgconfig.yml', '.prettierrc'],
  ...[
    '.gherkin-lintrc',
    '.markdownlint.json',
    'actionlint.yaml',
    '.github/actionlint.yaml',
    '.hadolint.yaml',
  ],
];

/** Packages that a tool may find beside what it reads instead of its own. */
const PACKAGES = [
  ...[
    'typescript',
    'eslint',
    'oxlint',
    'oxlint-tsgolint',
    'stylelint',
    'stylelint-config-standard',
    'knip',
    'vite',
  ],
  ...[
    'remark-lint',
    'remark-preset-lint-recommended',
    'html-validate',
    '@secretlint/core',
    'dependency-cruiser',
  ],
  ...[
    '@babel/core',
    'webpack',
    'vitest',
    'jest',
    'jiti',
    'tsx',
    'ts-node',
    'postcss',
    'postcss-scss',
    'publint',
  ],
  '@secretlint/secretlint-rule-preset-recommend',
];
const PROGRAMS = [
  'git',
  'node',
  'npm',
  'npx',
  'tsc',
  'oxlint',
  'tsgolint',
  'actionlint',
  'squawk',
  'sh',
  'less',
];

/** Settings of git that name a program. */
const GIT_PROGRAMS = [
  ...['core.fsmonitor', 'core.pager', 'core.editor', 'core.sshCommand', 'core.askPass', 'diff.external'],
  ...[
    'diff.evil.command',
    'diff.evil.textconv',
    'filter.evil.clean',
    'filter.evil.smudge',
    'filter.evil.process',
  ],
  ...[
    'gpg.program',
    'credential.helper',
    'pager.log',
    'pager.diff',
    'uploadpack.packObjectsHook',
    'merge.evil.driver',
  ],
  ...['interactive.diffFilter', 'core.gitProxy', 'log.showSignature'],
];

/** What ran of that which was planted, by the names of the files, and what the tool came to. */
export interface HostileRun {
  readonly executed: readonly string[];
  readonly outcome: ToolOutcome;
}

/**
 * Runs a tool on a repository in which everything that it could take for its configuration, its plug-ins, its packages or
 * its programs writes down that it was executed. `files` lie there too. @default SAMPLES
 *
 * The tool's process is not confined: what keeps it from executing something has to be the tool's own doing.
 */
export async function runOnHostileRepository(
  tool: Tool,
  {
    files = SAMPLES,
    input = {},
  }: {
    readonly files?: Readonly<Record<string, string>>;
    readonly input?: Readonly<Record<string, unknown>>;
  } = {},
): Promise<HostileRun> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'orrery-hostile-')));
  const [root, marker] = [join(folder, 'repository'), join(folder, 'executed')];
  try {
    plant(root, marker, files);
    const outcome = await runTool(
      tool,
      { root, files: Object.keys(files).filter(tool.takes), input },
      { agent: 'tester', signal: new AbortController().signal, progress: () => undefined, isConfined: false },
    );
    const executed = existsSync(marker) ? readFileSync(marker, 'utf8').split('\n').filter(Boolean) : [];
    return { executed: [...new Set(executed)], outcome };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function plant(root: string, marker: string, files: Readonly<Record<string, string>>): void {
  const write = (file: string, text: string): void => {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), text);
  };
  /** Says so in a module of any kind. */
  const script = (file: string): string =>
    `process.getBuiltinModule('node:fs').appendFileSync(${JSON.stringify(marker)}, ${JSON.stringify(`${file}\n`)});\n`;
  const program = (file: string): string => `#!/bin/sh\necho '${file}' >> '${marker}'\n`;
  for (const [file, text] of Object.entries(files)) write(file, text);
  for (const name of [...MODULES, ...DOTTED, ...BARE])
    for (const ending of ENDINGS) write(`${name}.${ending}`, script(`${name}.${ending}`));
  for (const name of ['.pnp.cjs', '.pnp.loader.mjs', '.yarn/plugins/evil.cjs', 'evil.cjs', 'src/evil.cjs'])
    write(name, script(name));
  for (const name of SETTINGS) write(name, JSON.stringify(NAMING('./evil.cjs')));
  for (const name of PACKAGES) {
    const folder = `node_modules/${name}`;
    write(`${folder}/package.json`, JSON.stringify({ name, version: '99.0.0', main: 'index.cjs' }));
    write(`${folder}/index.cjs`, script(`${folder}/index.cjs`));
  }
  for (const name of PROGRAMS) {
    for (const file of [`node_modules/.bin/${name}`, name]) {
      write(file, program(file));
      chmodSync(join(root, file), 0o755);
    }
  }
  write(
    'tsconfig.json',
    JSON.stringify({ compilerOptions: { strict: true, plugins: [{ name: './evil.cjs' }] } }),
  );
  write('.npmrc', 'node-options=--require ./evil.cjs\nscript-shell=./sh\n');
  write('.yarnrc.yml', 'yarnPath: ./evil.cjs\nplugins:\n  - ./.yarn/plugins/evil.cjs\n');
  write('.env', 'NODE_OPTIONS=--require ./evil.cjs\n');
  plantManifest(root, files['package.json']);
  plantGit(root, write, program);
}

function plantManifest(root: string, own = '{}'): void {
  const settings = NAMING('./evil.cjs');
  const manifest = {
    ...(JSON.parse(own) as object),
    eslintConfig: settings,
    stylelint: settings,
    remarkConfig: settings,
    knip: settings,
    babel: settings,
    prettier: './evil.cjs',
    postcss: settings,
    scripts: { prepare: 'node evil.cjs', prepack: 'node evil.cjs', test: 'node evil.cjs' },
  };
  writeFileSync(join(root, 'package.json'), JSON.stringify(manifest, undefined, 2));
}

function plantGit(
  root: string,
  write: (file: string, text: string) => void,
  program: (file: string) => string,
): void {
  const git = (...words: string[]): void => {
    execFileSync('git', ['-c', 'user.name=Tester', '-c', 'user.email=tester@example.org', ...words], {
      cwd: root,
      env: { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: '/dev/null' },
      stdio: 'ignore',
    });
  };
  git('init', '-q');
  git('add', 'src');
  git('commit', '-q', '--no-verify', '-m', 'Begin');
  write('.gitattributes', '* diff=evil filter=evil merge=evil\n');
  for (const hook of [
    'post-checkout',
    'post-index-change',
    'pre-commit',
    'fsmonitor-watchman',
    'reference-transaction',
  ]) {
    write(`.git/hooks/${hook}`, program(`.git/hooks/${hook}`));
    chmodSync(join(root, `.git/hooks/${hook}`), 0o755);
  }
  for (const setting of GIT_PROGRAMS) {
    const file = `.git/${setting}.sh`;
    write(file, program(file));
    chmodSync(join(root, file), 0o755);
    const [section = '', ...rest] = setting.split('.');
    const [name, sub] = rest.length === 2 ? [rest[1], ` "${rest[0]}"`] : [rest[0], ''];
    const value = setting === 'log.showSignature' ? 'true' : join(root, file);
    appendFileSync(join(root, '.git/config'), `[${section}${sub}]\n\t${name} = ${value}\n`);
  }
}
