import { capability, defineAgent } from 'orrery';
import { AuditReport, findingAt, SourceText } from 'orrery/missions';
import { z } from 'zod';
import { listNotes } from './librarian.agent.ts';

const READ_NOTE = new URL('./read-note.offload.ts', import.meta.url);

export const reviewNotes = capability({
  id: 'notes.review',
  description: 'What is still to be done, as the notes say it',
  input: z.object({ root: z.string() }),
  output: AuditReport,
  readOnly: true,
});

/** Asks the librarian for the notes. Each of its findings names a line, which MERCURY checks against the file. */
export const editor = defineAgent({
  id: 'editor',
  name: 'EDITOR',
  version: '1.0.0',
  description: 'Reads the notes',
  tier: 3,
}).handle(reviewNotes, async ({ root }, ctx) => {
  const { found } = await ctx.ask(listNotes, { root });
  const findings = [];
  for (const [done, { file }] of found.entries()) {
    const source = new SourceText(file, await ctx.offload(READ_NOTE, { root, file }));
    for (const [index, text] of source.text.split('\n').entries()) {
      if (!text.includes('TODO')) continue;
      const seen = {
        rule: 'notes.todo',
        severity: 'low',
        line: index + 1,
        message: 'Still to be done',
      } as const;
      findings.push(findingAt(source, { ...seen, agent: ctx.self }));
    }
    ctx.progress((done + 1) / found.length, file);
  }
  return { findings, notes: [], filesSeen: found.length, bytesSeen: 0 };
});
