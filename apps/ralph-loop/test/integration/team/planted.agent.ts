import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { capability, defineAgent } from 'orrery';
import { z } from 'zod';
import { revised } from '../../../agents/revise.ts';
import { AuditReport } from '../../../findings/finding.ts';
import { findingAt } from '../../../findings/finding-at.ts';
import { SourceText } from '../../../findings/source-text.ts';

const work = (id: string) =>
  capability({
    id,
    description: id,
    input: z.looseObject({ root: z.string(), feedback: z.string().optional() }),
    output: z.object({ notes: z.array(z.object({ kind: z.string(), reason: z.string() })) }),
  });

const done = (reason: string) => ({ notes: [{ kind: 'did', reason }] });

/** What whoever asks is asked back. */
export const mayGoOn = capability({
  id: 'work.may-go-on',
  description: 'Asks whether to go on',
  input: z.object({ title: z.string() }),
  output: z.string(),
});

const audit = (id: string) =>
  capability({
    id,
    description: id,
    input: z.object({ root: z.string(), feedback: z.string().optional() }),
    output: AuditReport,
  });

/** The lines of `evals.ts` that call eval, and every `wrong`-th of them once more, in a line where none is. */
function mistaken(root: string, wrong: number): AuditReport {
  const source = new SourceText('evals.ts', readFileSync(join(root, 'evals.ts'), 'utf8'));
  const seen = { rule: 'planted/eval', severity: 'high', message: 'Text is run as code.' } as const;
  const findings = source.text
    .split('\n')
    .flatMap((text, at) =>
      text.includes('eval(') ? [findingAt(source, { ...seen, line: at + 1, agent: 'planted' })] : [],
    );
  const repeated = findings
    .filter((_, at) => at % wrong === 0)
    .map((finding) => ({ ...finding, id: `${finding.id}-again`, line: finding.line + 1 }));
  return { findings: [...findings, ...repeated], notes: [], filesSeen: 1, bytesSeen: 0 };
}

/** Does its work, throws, ends its thread, loops for ever, or never answers, as it is asked. */
export const planted = defineAgent({
  id: 'planted',
  name: 'PLANTED',
  version: '1.0.0',
  description: 'Fails as asked',
  tier: 2,
})
  .handle(work('work.well'), (_input, ctx) => {
    ctx.progress(0.5, 'half way');
    return done('well');
  })
  .handle(work('work.asks-back'), async (_input, ctx) => {
    const { sender, id } = ctx.envelope;
    const told = ctx.tell(sender, 'it begins', { inReplyTo: id });
    return done(
      `${await ctx.ask({ agent: sender, capability: mayGoOn }, { title: 'T' })}, ${told.delivered}`,
    );
  })
  .handle(work('work.throws'), () => {
    throw new Error('planted');
  })
  .handle(work('work.exits-once'), ({ root }) => {
    const marker = join(root, 'was-asked');
    if (existsSync(marker)) return done('at the second attempt');
    writeFileSync(marker, '');
    process.exit(1);
  })
  .handle(work('work.loops-once'), ({ root }) => {
    const marker = join(root, 'was-asked');
    if (existsSync(marker)) return done('at the second attempt');
    writeFileSync(marker, '');
    for (;;);
  })
  .handle(audit('work.insists'), (request, ctx) => revised(mistaken(request.root, 2), request, ctx))
  .handle(audit('work.errs'), async ({ root, ...request }, ctx) => {
    const { findings, ...report } = mistaken(root, 1);
    // Three that do not hold for each two that do.
    const more = findings
      .filter(({ id }) => id.endsWith('-again'))
      .map((one) => ({ ...one, id: `${one.id}-2` }));
    return revised({ ...report, findings: [...findings, ...more] }, { root, ...request }, ctx);
  })
  .handle(work('work.never'), async (_input, ctx) => {
    await ctx.sleep(3_600_000);
    return done('never');
  });
