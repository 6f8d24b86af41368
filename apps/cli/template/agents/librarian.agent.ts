import { capability, defineAgent } from 'orrery';
import { z } from 'zod';

const LIST_NOTES = new URL('./list-notes.offload.ts', import.meta.url);

/** One note: a Markdown file, by its path below the root. */
export const Note = z.object({ file: z.string(), words: z.int().nonnegative() });

/** What this agent offers. Others name it to ask for it; `input` and `output` are checked on the way. */
export const listNotes = capability({
  id: 'notes.list',
  description: 'The Markdown files of a folder, and how many words each has',
  input: z.object({ root: z.string() }),
  output: z.object({ summary: z.string(), found: z.array(Note) }),
  readOnly: true,
});

/** It runs in a worker thread: an endless loop here ends nothing but this agent. */
export const librarian = defineAgent({
  id: 'librarian',
  name: 'LIBRARIAN',
  version: '1.0.0',
  description: 'Knows which notes there are',
  tier: 3,
}).handle(listNotes, async ({ root }, ctx) => {
  // A simulation cannot wait for files that a handler reads itself. What is offloaded it runs for real.
  const found: z.infer<typeof Note>[] = await ctx.offload(LIST_NOTES, { root });
  return { summary: `${found.length} notes`, found };
});
