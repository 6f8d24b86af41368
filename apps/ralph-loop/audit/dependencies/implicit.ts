/**
 * Packages that nobody names in code: types, plug-ins and presets that tools find by convention, and what compilers and
 * frameworks import by themselves.
 */
const BY_CONVENTION =
  /^@types\/|^@tsconfig\/|plugin|preset|config|loader|polyfill|eslint|babel|prettier|stylelint|postcss|webpack|rollup|vite|jest|karma|gulp|grunt|typescript|commitlint|semantic-release|storybook/;
const BY_COMPILERS = new Set([
  'tslib',
  'core-js',
  'regenerator-runtime',
  '@swc/helpers',
  'react',
  'react-dom',
  'preact',
  'vue',
  'solid-js',
  'svelte',
  'sharp',
  'encoding',
  'bufferutil',
  'utf-8-validate',
  'pino-pretty',
  'source-map-support',
]);

/** Whether a package does its work by being listed. */
export const listsOnly = (name: string): boolean => BY_CONVENTION.test(name) || BY_COMPILERS.has(name);

/** What a platform gives to what runs on it, without any declaration. */
const BY_PLATFORM =
  /^(server-only|client-only|aws-sdk|@aws-sdk\/.+|k6|vscode|electron|meteor|bun|deno|obsidian|astro|next)$/;

export const comesWithPlatform = (name: string): boolean => BY_PLATFORM.test(name);
