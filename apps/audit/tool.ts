import type { Note, Severity } from '@orrery/ralph-loop';

/**
 * What a tool says is wrong at one place.
 *
 * - `rule`      `<tool>/<its own rule id>`, as in the tool's table of rules.
 * - `severity`  ours, from that table, never the tool's default.
 * - `file`      relative to the root, with `/`.
 * - `line`      1-based; `column` too, in UTF-16 units.
 * - `message`   one or two plain sentences: what is wrong, and what to do about it.
 * - `help`      the address of the rule's page.
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
 * What a tool is asked, in a process of its own.
 *
 * - `root`   the repository's real path. The process stands elsewhere: nothing is looked up there by chance.
 * - `files`  those that it takes, relative to the root: text that people wrote, of at most 1 MiB.
 * - `input`  what the mission's task says beside the root.
 */
export interface ToolJob {
  readonly root: string;
  readonly files: readonly string[];
  readonly input: Readonly<Record<string, unknown>>;
}

/** `filesSeen`: how many of the files it looked at. @default all of them */
export interface ToolResult {
  readonly hits: readonly Hit[];
  readonly notes?: readonly Note[];
  readonly filesSeen?: number;
}

/** How severe it is to break a rule, and what the rule is about. */
export interface ToolRule {
  readonly severity: Severity;
  readonly what: string;
}

/**
 * A tool that its field trusts.
 *
 * Its module is loaded twice: in the planet's thread for what it says of itself, and in the tool's process to run. So the
 * tool's own packages are imported inside `run`, never at the top.
 *
 * - `module`     `import.meta.url` of the file that exports it.
 * - `packages`   what it stands on, by npm's names, or `git`.
 * - `home`       an address.
 * - `replaces`   what of our own it replaced; for the docs.
 * - `rules`      all that it may report. A key that ends in `*` stands for all that begin so.
 * - `nothing`    said when it takes no file: `no stylesheets`.
 * - `maxHeapMb`  of its process. @default 512
 * - `maySpawn`   it starts a program of its own, such as git or a native binary. @default false
 * - `isNative`   a package of its has code that is no JavaScript, loaded into the process. @default false
 * - `progress`   may be called as often as one likes.
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

/** The rule of this id, if it is one of the tool's. */
export function ruleOf({ rules }: Pick<Tool, 'rules'>, id: string): ToolRule | undefined {
  if (Object.hasOwn(rules, id)) return rules[id];
  const pattern = Object.keys(rules).find((key) => key.endsWith('*') && id.startsWith(key.slice(0, -1)));
  return pattern === undefined ? undefined : rules[pattern];
}
