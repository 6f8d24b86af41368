import type { Note } from '@orrery/ralph-loop';
import { readSource } from '@orrery/ralph-loop/findings/read-source';
import { isCopied, isDemo, isTest, isVendored } from './aside.ts';
import type { Hit, Tool, ToolJob, ToolResult } from '../tool.ts';
import { firstOfEach, hitOf, type RulesBySeverity, ruleTable } from './scan-files.ts';
import { type MemoryLimit, MemoryWatch } from './memory-watch.ts';
import { SwitchedOff } from './switched-off.ts';

/**
 * How we use a rule of oxlint.
 *
 * - `options`  as on the rule's page.
 * - `isQuoted` whether oxlint's message comes first, because it names what is missing. @default false
 */
export interface Particulars {
  readonly options?: unknown;
  readonly isQuoted?: boolean;
  /** Whether it applies to TypeScript only: in scripts the compiler guesses types. @default false */
  readonly isOfTypes?: boolean;
  /** Whether to report a place. @default always */
  readonly isTold?: (place: LintPlace) => boolean | Promise<boolean>;
  /** Another rule that reports the same fault; if it reports a file, this one does not. */
  readonly isCoveredBy?: string;
  /** Whether the fault is oxlint's last label, after the one that it conflicts with. @default false */
  readonly isAtLast?: boolean;
  /** Reports of it in one file. @default 3 */
  readonly few?: number;
}

/**
 * A place that oxlint reports.
 *
 * - `message` of oxlint.
 * - `rest`    the text of the file from that place on.
 * - `text`    the whole text.
 */
export interface LintPlace {
  readonly root: string;
  readonly file: string;
  readonly message: string;
  readonly rest: string;
  readonly text: string;
}

export interface LintToolOptions {
  readonly name: string;
  readonly module: string;
  readonly replaces: string;
  /** What there is not if it takes no file. @default 'no scripts' */
  readonly nothing?: string;
  readonly plugins: readonly string[];
  /** Rules by severity and oxlint's id, such as `react/jsx-key`: what is wrong, and what to do about it. */
  readonly rules: RulesBySeverity;
  readonly particulars?: Readonly<Record<string, Particulars>>;
  /** Whether it reads a file. @default scripts that are no tests and no demonstrations */
  readonly takes?: (file: string) => boolean;
  /** Whether the rules apply to a file with this text. @default always */
  readonly isMeant?: (text: string, file: string, root: string) => boolean;
  /** Whether rules need types: oxlint starts tsgolint for them, which is TypeScript 7 with rules. @default false */
  readonly isTypeAware?: boolean;
  /** The memory limit of tsgolint. @default 4096 MB, checked every second */
  readonly compilerLimit?: Omit<MemoryLimit, 'program'>;
}

export const isScript = (file: string): boolean =>
  /\.[cm]?[jt]sx?$/.test(file) && !/\.d\.[cm]?ts$/.test(file);

/** Marks of compilers and bundlers. */
const COMPILED =
  /\/\/# sourceMappingURL=|@babel\/runtime|__esModule|\b_interopRequireDefault\b|^\/\/#region /m;

/** Whether a file is compiled, so that its faults are those of its source. Its types may be beside it. */
const isCompiled = (file: string, text: string, exists: (file: string) => boolean): boolean =>
  /\.[cm]?js$/.test(file) &&
  (COMPILED.test(text) || exists(file.replace(/js$/, 'ts').replace(/\.([cm]?ts)$/, '.d.$1')));

/** The longest command line, characters. Longer lists are linted in parts. */
const MAX_ARGUMENTS = 500_000;
const MAX_OUTPUT_BYTES = 256 * 1024 * 1024;
/** The heap goal of tsgolint. Above it, it collects garbage all the time, and grows only if that does not help. */
const HEAP_GOAL = '3GiB';
const COMPILER_LIMIT: Omit<MemoryLimit, 'program'> = { maxMb: 4_096 };

/** Makes a tool that runs oxlint with these rules only, and without settings of the repository. */
export function lintTool(options: LintToolOptions): Tool {
  const { name, module, replaces, isTypeAware = false } = options;
  const { nothing = 'no scripts', takes = (file) => isScript(file) && !isTest(file) && !isDemo(file) } =
    options;
  const rules = ruleTable(NAME, options.rules);
  return {
    name,
    module,
    packages: isTypeAware ? ['oxlint', 'oxlint-tsgolint'] : ['oxlint'],
    licence: 'MIT',
    home: 'https://oxc.rs/docs/guide/usage/linter',
    replaces,
    rules,
    nothing,
    takes: (file) => takes(file) && !isVendored(file),
    maySpawn: true,
    isNative: true,
    run: (job, progress) => lint(job, { ...options, rules }, progress),
  };
}

const NAME = 'oxlint';

type LintOptions = Omit<LintToolOptions, 'rules'> & Pick<Tool, 'rules'>;

async function lint(
  { root, files }: ToolJob,
  options: LintOptions,
  progress: (done: number, of: number) => void,
): Promise<ToolResult> {
  const { mkdtempSync, rmSync, writeFileSync } = await import('node:fs');
  const { tmpdir } = await import('node:os');
  const { join } = await import('node:path');
  const scratch = mkdtempSync(join(tmpdir(), 'oxlint-'));
  try {
    const settings = join(scratch, 'settings.json');
    writeFileSync(settings, JSON.stringify(settingsOf(options)));
    const found: Diagnostic[] = [];
    const notes: Note[] = [];
    let done = 0;
    for (const part of partsOf(files.map((file) => join(root, file)))) {
      const { isTypeAware, compilerLimit = COMPILER_LIMIT } = options;
      const said = await diagnosticsOf(part, { settings, scratch, isTypeAware, compilerLimit });
      if (said === 'overgrown') {
        notes.push({
          kind: 'memory',
          reason: `the compiler needs more than ${compilerLimit.maxMb} MB of memory: ${files.length - done} of ${files.length} files were not checked`,
        });
        break;
      }
      found.push(...said);
      done += part.length;
      progress(done, files.length);
    }
    const result = await resultOf(found, { root, files: files.slice(0, done), input: {} }, options);
    return { ...result, notes: [...notes, ...(result.notes ?? [])] };
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

const settingsOf = ({ plugins, rules, particulars = {} }: LintOptions): object => ({
  plugins,
  jsPlugins: [],
  categories: { correctness: 'off' },
  rules: Object.fromEntries(
    idsOf(rules).map((id) => {
      const { options } = particulars[id] ?? {};
      return [id, options === undefined ? 'error' : ['error', options]];
    }),
  ),
});

/** Rules by oxlint's ids. */
const idsOf = (rules: Tool['rules']): string[] =>
  Object.keys(rules).map((rule) => rule.slice(NAME.length + 1));

function partsOf(files: readonly string[]): string[][] {
  const parts: string[][] = [];
  let room = 0;
  for (const file of files) {
    room -= file.length + 1;
    if (room < 0) {
      parts.push([]);
      room = MAX_ARGUMENTS - file.length;
    }
    parts.at(-1)?.push(file);
  }
  return parts;
}

/** A diagnostic as oxlint prints it. Offsets are in bytes. */
interface Diagnostic {
  readonly message: string;
  readonly code?: string;
  readonly url?: string;
  readonly help?: string;
  /** The files of a circle, as a drawing. */
  readonly note?: string;
  readonly filename: string;
  readonly labels: readonly { readonly span: { readonly offset: number } }[];
}

interface LintRun {
  readonly settings: string;
  readonly scratch: string;
  readonly isTypeAware?: boolean | undefined;
  readonly compilerLimit: Omit<MemoryLimit, 'program'>;
}

/**
 * Runs oxlint outside the repository, where it would start the tsgolint that is installed there. Resolves to `overgrown` if
 * the compiler was ended because of its memory.
 */
async function diagnosticsOf(
  files: readonly string[],
  run: LintRun,
): Promise<readonly Diagnostic[] | 'overgrown'> {
  const { execFile } = await import('node:child_process');
  const { createRequire } = await import('node:module');
  const program = createRequire(import.meta.url)
    .resolve('oxlint/package.json')
    .replace(/package\.json$/, 'bin/oxlint');
  const flags = [
    '-c',
    run.settings,
    '--disable-nested-config',
    '--no-error-on-unmatched-pattern',
    '-f',
    'json',
  ];
  const env = { ...process.env, ...(run.isTypeAware === true ? compilerEnvironment(createRequire) : {}) };
  if (run.isTypeAware === true) flags.push('--type-aware');
  let isOvergrown = false;
  const overgrow = (): void => {
    isOvergrown = true;
  };
  using _watch =
    run.isTypeAware === true
      ? new MemoryWatch({ program: 'tsgolint', ...run.compilerLimit }, overgrow)
      : undefined;
  const said = await new Promise<{ out: string; err: string }>((done) => {
    execFile(
      process.execPath,
      [program, ...flags, '--', ...files],
      { cwd: run.scratch, env, maxBuffer: MAX_OUTPUT_BYTES },
      (_error, out, err) => done({ out, err }),
    );
  });
  if (isOvergrown) return 'overgrown';
  try {
    return (JSON.parse(said.out) as { diagnostics: readonly Diagnostic[] }).diagnostics;
  } catch (cause) {
    throw new Error(`oxlint gave no result: ${`${said.err} ${said.out}`.trim().slice(0, 500)}`, { cause });
  }
}

/** The environment for tsgolint: the one installed with us, on one core, also for repositories of older compilers. */
function compilerEnvironment(createRequire: typeof import('node:module').createRequire): NodeJS.ProcessEnv {
  const { platform, arch } = process;
  const ending = platform === 'win32' ? '.exe' : '';
  const ours = createRequire(createRequire(import.meta.url).resolve('oxlint-tsgolint/package.json'));
  return {
    OXLINT_TSGOLINT_PATH: ours.resolve(`@oxlint-tsgolint/${platform}-${arch}/tsgolint${ending}`),
    OXLINT_TSGOLINT_DANGEROUSLY_SUPPRESS_PROGRAM_DIAGNOSTICS: 'true',
    GOMAXPROCS: '1',
    GOMEMLIMIT: HEAP_GOAL,
  };
}

async function resultOf(
  found: readonly Diagnostic[],
  { root, files }: ToolJob,
  { rules, particulars = {}, isMeant = () => true }: LintOptions,
): Promise<ToolResult> {
  const { existsSync } = await import('node:fs');
  const { join, relative, resolve, sep } = await import('node:path');
  const asked = new Set(files);
  const ids = idsOf(rules);
  const switchedOff = new SwitchedOff(root);
  const told: Hit[] = [];
  const unread = new Set<string>();
  const within = (path: string): string => relative(root, resolve(root, path)).split(sep).join('/');
  const byFile = Map.groupBy(found, ({ filename }) => within(filename));
  for (const [file, ofFile] of byFile) {
    const read = asked.has(file) ? readSource(root, file) : { skipped: true };
    if ('skipped' in read || !isMeant(read.source.text, file, root)) continue;
    const { source } = read;
    if (isCopied(source.text)) continue;
    if (isCompiled(file, source.text, (path) => existsSync(join(root, path)))) continue;
    const bytes = Buffer.from(source.text);
    const hits = new Map<string, Hit>();
    for (const diagnostic of ofFile) {
      const id = idOf(diagnostic, ids);
      if (id === undefined) {
        unread.add(file);
        continue;
      }
      const { message, url, labels } = diagnostic;
      const {
        isAtLast = false,
        isOfTypes = false,
        isQuoted = false,
        isTold = () => true,
      } = particulars[id] ?? {};
      const offset = labels.at(isAtLast ? -1 : 0)?.span.offset ?? 0;
      const start = bytes.subarray(0, offset).toString().length;
      const place = source.positionAt(start);
      const { text } = source;
      if (isOfTypes && /\.[cm]?jsx?$/.test(file)) continue;
      if (switchedOff.has(file, id)) continue;
      if (!(await isTold({ root, file, message, rest: text.slice(start), text }))) continue;
      const quote = isQuoted ? message.replace(/\s*\.?$/, '. ') : '';
      const circle = circleIn(diagnostic).map(within);
      const trail = circle.length === 0 ? {} : { trail: [file, ...circle] };
      for (const hit of hitOf(rules, `${NAME}/${id}`, source, { ...place, help: url }))
        hits.set(`${id} ${place.line}`, { ...hit, ...trail, message: quote + hit.message });
    }
    told.push(...fewOf([...hits.values()].sort(byPlace), particulars));
  }
  const [first] = unread;
  const reason = `${unread.size} ${unread.size === 1 ? 'file' : 'files'} could not be parsed or linted whole, this one first`;
  const notes = first === undefined ? [] : [{ kind: 'unparsed', file: first, reason }];
  return { hits: told.sort(byPlace), notes, filesSeen: files.length - unread.size };
}

/** The hits of one file to report. */
function fewOf(hits: readonly Hit[], particulars: LintToolOptions['particulars'] = {}): Hit[] {
  const byRule = Map.groupBy(hits, ({ rule }) => rule);
  return [...byRule].flatMap(([rule, alike]) => {
    const { few, isCoveredBy } = particulars[rule.slice(NAME.length + 1)] ?? {};
    return byRule.has(`${NAME}/${isCoveredBy}`) ? [] : firstOfEach(alike, few);
  });
}

/** Orders hits, which oxlint reports in any order. */
const byPlace = (a: Hit, b: Hit): number => (a.file < b.file ? -1 : a.file > b.file ? 1 : a.line - b.line);

/** Our id of a diagnostic's rule: `eslint-plugin-react-hooks(rules-of-hooks)` is `react/rules-of-hooks`. */
function idOf({ code }: Diagnostic, ids: readonly string[]): string | undefined {
  const name = /\((.+)\)$/.exec(code ?? '')?.[1];
  return name === undefined ? undefined : ids.find((id) => id === name || id.endsWith(`/${name}`));
}

/** Reads the files of a circle from oxlint's drawing, from the imported file to the one that imports it. */
const circleIn = ({ note }: Diagnostic): string[] =>
  note?.includes('form a cycle') === true
    ? [...note.matchAll(/\(([^()\n]+)\)$/gm)].map(([, path = '']) => path)
    : [];
