import { z } from 'zod';
import { MOST_NAMES, MOST_PROJECT_BYTES, MOST_PROJECT_FILES } from '../project/project-bounds.ts';
import type { RuleSubject } from './rule.ts';

const MOST_CHARS = 1_048_576;

const Path = z.string().max(1_000);
const Name = z.string().min(1).max(500);
const Content = z.string().max(MOST_CHARS);

/** A file that is checked: `path` relative to the project, `content` its text. */
export const RuleFile = z.object({ path: Path, content: Content.optional() });
export type RuleFile = z.infer<typeof RuleFile>;

/** Dependencies: `name@version`, or name and version apart, or versions by names as a manifest has them. */
export const RuleDependencies = z.union([
  z
    .array(z.union([Name, z.object({ name: Name, version: z.string().max(500).optional() })]))
    .max(MOST_NAMES)
    .readonly(),
  z
    .record(Name, z.string().max(500))
    .refine((versions) => Object.keys(versions).length <= MOST_NAMES, `at most ${MOST_NAMES} dependencies`),
]);
export type RuleDependencies = z.infer<typeof RuleDependencies>;

/**
 * What is known of a project, or of a part of it. What is absent is not known; a list that is given is the whole of it.
 *
 * - `path`, `content` of one file, as Aeterna names it; beside `files`.
 * - `imports`         beside those in the text of files.
 * - `config`          the configuration, as JSON.
 */
export const RuleContext = z
  .object({
    files: z.array(RuleFile).max(MOST_PROJECT_FILES).readonly().optional(),
    path: Path.optional(),
    content: Content.optional(),
    dependencies: RuleDependencies.optional(),
    imports: z.array(Name).max(MOST_NAMES).readonly().optional(),
    config: z.unknown().optional(),
  })
  .refine(
    ({ files = [], content = '' }) =>
      files.reduce((chars, file) => chars + (file.content?.length ?? 0), content.length) <=
      MOST_PROJECT_BYTES,
    `files whose texts have at most ${MOST_PROJECT_BYTES} characters together`,
  );
export type RuleContext = z.infer<typeof RuleContext>;

/** The subject that a context describes. */
export function subjectOf({ files, path, content, dependencies, imports, config }: RuleContext): RuleSubject {
  const one = path === undefined && content === undefined ? undefined : [{ path: path ?? '', content }];
  return {
    files: files === undefined ? one : [...files, ...(one ?? [])],
    dependencies: dependencies && dependenciesOf(dependencies),
    imports,
    config,
  };
}

/** Dependencies by name and version. */
export function dependenciesOf(given: RuleDependencies): NonNullable<RuleSubject['dependencies']> {
  if (!isList(given)) return Object.entries(given).map(([name, version]) => ({ name, version }));
  return given.map((each) => (typeof each === 'string' ? named(each) : each));
}

type DependencyList = Extract<RuleDependencies, readonly unknown[]>;

const isList = (given: RuleDependencies): given is DependencyList => Array.isArray(given);

/** `@scope/name@version`: what stands behind the last `@` that does not begin it. */
function named(text: string): { readonly name: string; readonly version?: string } {
  const at = text.lastIndexOf('@');
  return at <= 0 ? { name: text } : { name: text.slice(0, at), version: text.slice(at + 1) };
}
