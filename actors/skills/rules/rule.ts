import { z } from 'zod';
import { storedText } from '../skill-text.ts';

/** How bad a violation is: `block` alone has a check not pass. */
export const Severity = z.enum(['info', 'warn', 'block']);
export type Severity = z.infer<typeof Severity>;

const MOST_CHARS = 1_000;
const Text = storedText(MOST_CHARS);

/**
 * A rule about a project (Aeterna's policies, and the constraints of its knowledge).
 *
 * - `target`   what it looks at: paths of files, their text, dependencies, what is imported, or the configuration.
 * - `operator` what it wants there. `MustUse` and `MustNotUse` look for a name, `MustMatch` and `MustNotMatch` for a pattern
 *              (RE2's syntax), `MustExist` and `MustNotExist` whether there is such a one at all.
 * - `value`    the name, the pattern, the path; of several each counts.
 * - `ruleType` `deny` wants the opposite of what the operator says; not together with a negative operator. @default 'allow'
 * - `severity` @default 'warn'
 * - `message`  what a violation says. @default a sentence of operator, target and value
 */
export const Rule = z.strictObject({
  id: Text,
  ruleType: z.enum(['allow', 'deny']).default('allow'),
  target: z.enum(['file', 'code', 'dependency', 'import', 'config']),
  operator: z.enum(['MustUse', 'MustNotUse', 'MustMatch', 'MustNotMatch', 'MustExist', 'MustNotExist']),
  value: z.union([Text, z.array(Text).min(1).max(100).readonly()]),
  severity: Severity.default('warn'),
  message: Text.optional(),
});
export type Rule = z.infer<typeof Rule>;

/**
 * What is checked. What is absent is not known, and no rule about it is broken. A list that is given is the whole of it.
 *
 * - `files`        `path` with slashes, relative to the project, '' where it is not known; `content` its text, if it is known.
 * - `dependencies` `version` as the manifest has it.
 * - `imports`      what is imported, such as `node:fs`, beside what the text of `files` imports.
 * - `config`       the configuration, as JSON.
 */
export interface RuleSubject {
  readonly files?: readonly { readonly path: string; readonly content?: string | undefined }[] | undefined;
  readonly dependencies?:
    | readonly { readonly name: string; readonly version?: string | undefined }[]
    | undefined;
  readonly imports?: readonly string[] | undefined;
  readonly config?: unknown;
}

/**
 * What breaks a rule.
 *
 * - `constraint` what the rule wants; of several values the one that this is about.
 * - `found`      the file, dependency, import or key that there must not be.
 * - `location`   where: the first line is 1. Without a line it is the file itself. A file whose path is not known is ''.
 */
export const Violation = z.strictObject({
  ruleId: z.string(),
  severity: Severity,
  message: z.string(),
  constraint: z.strictObject({
    operator: Rule.shape.operator,
    target: Rule.shape.target,
    value: Rule.shape.value,
  }),
  found: z.string().optional(),
  location: z.strictObject({ file: z.string(), line: z.int().positive().optional() }).optional(),
});
export type Violation = z.infer<typeof Violation>;
