import type { Note, Severity } from '@orrery/ralph-loop';

/**
 * A defect that a tool reports.
 *
 * - `rule`      `<tool>/<id of the rule>`, as in the tool's rules.
 * - `severity`  ours, from those rules; never the tool's default.
 * - `file`      relative to the root, with `/`.
 * - `line`, `column` from 1; columns in UTF-16 units.
 * - `message`   one or two sentences: what is wrong, and what to do about it.
 * - `help`      URL of the rule's page.
 * - `trail`     files that lead to the defect, such as a circle of imports.
 */
export interface Hit {
  readonly rule: string;
  readonly severity: Severity;
  readonly file: string;
  readonly line: number;
  readonly column?: number;
  readonly message: string;
  readonly help?: string;
  readonly trail?: readonly string[];
}

/**
 * The job of a tool, in a process of its own.
 *
 * - `root`   real path of the repository. It is not the working directory, so that nothing is read from there by chance.
 * - `files`  files that the tool takes, relative to the root: text that people wrote, of at most 1 MiB.
 * - `input`  the other fields of the mission's task.
 */
export interface ToolJob {
  readonly root: string;
  readonly files: readonly string[];
  readonly input: Readonly<Record<string, unknown>>;
}

/** The result of a tool. `filesSeen` is how many files it has read. @default all */
export interface ToolResult {
  readonly hits: readonly Hit[];
  readonly notes?: readonly Note[];
  readonly filesSeen?: number;
}

/** A rule: its severity, and a sentence about it. */
export interface ToolRule {
  readonly severity: Severity;
  readonly what: string;
}

/**
 * A tool of the audit.
 *
 * Its module is loaded twice: in the planet's thread for its description, and in the tool's process to run. So `run` must
 * import the tool's packages itself.
 *
 * - `module`     `import.meta.url` of the file that exports it.
 * - `packages`   packages of npm that it uses, or `git`.
 * - `home`       URL of its home page.
 * - `replaces`   rules of our own that it replaced; for the docs.
 * - `rules`      all rules that it may report. A key with `*` at its end stands for all that begin so.
 * - `nothing`    what there is not if it takes no file, such as `no stylesheets`.
 * - `takes`      whether it reads a file, by its path.
 * - `maxHeapMb`  of its process. @default 512
 * - `maySpawn`   it starts a program, such as git or a native binary. @default false
 * - `isNative`   it loads native code into its process. @default false
 * - `run`        runs it; `progress` may be called any number of times.
 */
export interface Tool {
  readonly name: string;
  readonly module: string;
  readonly packages: readonly string[];
  readonly licence: string;
  readonly home: string;
  readonly replaces: string;
  readonly rules: Readonly<Record<string, ToolRule>>;
  readonly nothing: string;
  readonly takes: (file: string) => boolean;
  readonly maxHeapMb?: number;
  readonly maySpawn?: boolean;
  readonly isNative?: boolean;
  readonly run: (job: ToolJob, progress: (done: number, of: number) => void) => Promise<ToolResult>;
}

/** Finds a tool's rule by its id; undefined if it has none. */
export function ruleOf({ rules }: Pick<Tool, 'rules'>, id: string): ToolRule | undefined {
  if (Object.hasOwn(rules, id)) return rules[id];
  const pattern = Object.keys(rules).find((key) => key.endsWith('*') && id.startsWith(key.slice(0, -1)));
  return pattern === undefined ? undefined : rules[pattern];
}
