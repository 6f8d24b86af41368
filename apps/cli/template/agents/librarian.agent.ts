import { capability, defineAgent } from 'orrery';
import { z } from 'zod';

const LIST_NOTES = new URL('./list-notes.offload.ts', import.meta.url);

/** A note: a Markdown file, by its path from the root. */
export const Note = z.object({ file: z.string(), words: z.int().nonnegative() });

/** The capability of this agent, which others ask for. `input` and `output` are checked. */
export const listNotes = capability({
  id: 'notes.list',
  description: 'The Markdown files of a folder, and how many words each has',
  input: z.object({ root: z.string() }),
  output: z.object({ summary: z.string(), found: z.array(Note) }),
  readOnly: true,
});

/** Runs in a worker thread: an endless loop here ends only this agent. */
export const librarian = defineAgent({
  id: 'librarian',
  name: 'LIBRARIAN',
  version: '1.0.0',
  description: 'Knows which notes there are',
  tier: 3,
}).handle(listNotes, async ({ root }, ctx) => {
  // A simulation cannot wait for files that a handler reads itself. It really runs what is offloaded.
  const found: z.infer<typeof Note>[] = await ctx.offload(LIST_NOTES, { root });
  return { summary: `${found.length} notes`, found };
});
