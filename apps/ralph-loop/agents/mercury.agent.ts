import { defineAgent, refused } from 'orrery';
import { PLANETS } from 'orrery/planets';
import { REPOSITORY_ROOT, type RepositoryRoot, repositoryRoot } from '../findings/repository-root.ts';
import { verifyFindings } from '../findings/verify-findings.ts';
import { findingsVerify } from './capabilities.ts';

/** For an ask that brings no deadline of its own: an hour is longer than any list of findings takes. */
const HANDLING_TIMEOUT_MS = 3_600_000;

export const mercury = defineAgent({
  ...PLANETS.mercury,
  delivery: 'retry',
  handlingTimeoutMs: HANDLING_TIMEOUT_MS,
}).handle(findingsVerify, async ({ root: asked, findings }, ctx) => {
  const repository = await ctx.effect<RepositoryRoot>(REPOSITORY_ROOT, () => repositoryRoot(asked));
  if ('refusal' in repository) throw refused(repository.refusal, { root: asked });
  return verifyFindings(repository.root, findings, {
    signal: ctx.signal,
    onProgress: (done) => ctx.progress(done / findings.length, `${done} of ${findings.length} findings`),
  });
});
