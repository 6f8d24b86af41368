import { defineAgent, refused } from 'orrery';
import { PLANETS } from 'orrery/planets';
import { fromPromise } from 'xstate';
import { REPOSITORY_ROOT, type RepositoryRoot, repositoryRoot } from '../findings/repository-root.ts';
import type { Verification } from '../findings/verification.ts';
import { verifyFindings } from '../findings/verify-findings.ts';
import { findingsVerify } from './capabilities.ts';
import { type Judging, mercuryMachine } from './mercury.machine.ts';

/** The deadline of an ask without one: longer than any list of findings takes. */
const HANDLING_TIMEOUT_MS = 3_600_000;

const machine = mercuryMachine.provide({
  actors: { verify: fromPromise<Verification, Judging>(({ input, signal }) => verify(input, signal)) },
});

export const mercury = defineAgent({
  ...PLANETS.mercury,
  delivery: 'retry',
  handlingTimeoutMs: HANDLING_TIMEOUT_MS,
}).logic(machine, [findingsVerify]);

async function verify({ request, ctx }: Judging, signal: AbortSignal): Promise<Verification> {
  const { root: asked, findings } = request;
  const repository = await ctx.effect<RepositoryRoot>(REPOSITORY_ROOT, () => repositoryRoot(asked));
  if ('refusal' in repository) throw refused(repository.refusal, { root: asked });
  return verifyFindings(repository.root, findings, {
    signal,
    pause: () => ctx.sleep(0),
    onProgress: (done) => ctx.progress(done / findings.length, `${done} of ${findings.length} findings`),
  });
}
