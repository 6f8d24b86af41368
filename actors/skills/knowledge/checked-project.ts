import { z } from 'zod';
import { MOST_NAMES, MOST_PROJECT_BYTES, MOST_PROJECT_FILES } from '../project/project-bounds.ts';

const MOST_CONFIG = 1_000_000;

const Path = z.string().min(1).max(1_000);

const Files = z
  .array(z.strictObject({ path: Path, content: z.string().optional() }))
  .max(MOST_PROJECT_FILES)
  .refine(
    (files) =>
      files.reduce((sum, { content = '' }) => sum + Buffer.byteLength(content), 0) <= MOST_PROJECT_BYTES,
    `expected at most ${MOST_PROJECT_BYTES} bytes of content in all`,
  );

/** What is known of a project that is checked, as `RuleSubject` has it, in bounds. */
export const CheckedProject = z.strictObject({
  files: Files.optional().describe('Files, by their paths from the root of the project'),
  dependencies: z
    .array(z.strictObject({ name: z.string().min(1).max(300), version: z.string().max(300).optional() }))
    .max(MOST_NAMES)
    .optional()
    .describe('What the project depends on, with versions as its manifest has them'),
  imports: z
    .array(z.string().min(1).max(500))
    .max(MOST_NAMES)
    .optional()
    .describe('What the project imports'),
  config: z
    .json()
    .refine(
      (config) => JSON.stringify(config).length <= MOST_CONFIG,
      `expected at most ${MOST_CONFIG} characters as JSON`,
    )
    .optional()
    .describe('The configuration of the project'),
});
export type CheckedProject = Readonly<z.infer<typeof CheckedProject>>;

/** Whether anything is known of a project that can be checked. */
export const isAnythingKnown = ({ files, dependencies, imports, config }: CheckedProject): boolean =>
  files !== undefined || dependencies !== undefined || imports !== undefined || config !== undefined;
