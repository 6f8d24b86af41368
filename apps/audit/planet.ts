import { type AgentDefinition, type Capability, defineAgent, refused } from 'orrery';
import type { Planet } from 'orrery/planets';
import { REPOSITORY_ROOT, type RepositoryRoot, repositoryRoot } from '@orrery/ralph-loop';
import { fromPromise } from 'xstate';
import { answerOf } from './answer-of.ts';
import type { AuditAnswer, AuditRequest } from './audit-answer.ts';
import { listRepository, type RepositoryFiles } from './list-repository.ts';
import { type Listed, planetMachine, type PlanetStep } from './planet.machine.ts';
import { revised } from './revise.ts';
import { runTool, type ToolOutcome } from './run-tool.ts';
import type { Tool } from './tool.ts';

/** For an ask that brings no deadline of its own: an hour is longer than any repository takes. */
const HANDLING_TIMEOUT_MS = 3_600_000;

/** The names under which a planet reaches outside (`ctx.effect`), so that a simulation can answer instead. */
export const LIST_REPOSITORY = 'list-repository';
export const RUN_TOOL = 'run-tool';

/** A planet whose job is done by `tools`, one after the other, in processes of their own. */
export function planet(
  who: Planet,
  job: Capability<AuditRequest, AuditAnswer, unknown, unknown>,
  tools: readonly Tool[],
): AgentDefinition {
  const machine = planetMachine(job.id).provide({
    actors: {
      list: fromPromise(({ input }) => list(input)),
      runTool: fromPromise(({ input }) => runNext(tools, input)),
      check: fromPromise(({ input }) => check(tools, input)),
    },
    guards: { isToolLeft: ({ context }) => context.outcomes.length < tools.length },
  });
  return defineAgent({ ...who, delivery: 'retry', handlingTimeoutMs: HANDLING_TIMEOUT_MS }).logic(machine, [
    job,
  ]);
}

async function list({ job: { request, ctx } }: PlanetStep): Promise<Listed> {
  ctx.progress(0, 'lists the files');
  const repository = await ctx.effect<RepositoryRoot>(REPOSITORY_ROOT, () => repositoryRoot(request.root));
  if ('refusal' in repository) throw refused(repository.refusal, { root: request.root });
  const { root } = repository;
  const listed = await ctx.effect<RepositoryFiles>(LIST_REPOSITORY, (signal) => listRepository(root, signal));
  return { root, ...listed };
}

async function runNext(tools: readonly Tool[], { job, listed, outcomes }: PlanetStep): Promise<ToolOutcome> {
  const { ctx, request } = job;
  const tool = tools[outcomes.length] as Tool;
  const { root: _root, feedback: _feedback, ...input } = request;
  const files = listed.files.map(({ path }) => path).filter(tool.takes);
  if (files.length === 0) return { nothing: tool.nothing };
  const fraction = (part: number): number => (outcomes.length + part) / tools.length;
  ctx.progress(fraction(0), `${tool.name} starts on ${files.length} files`);
  return ctx.effect<ToolOutcome>(RUN_TOOL, (signal) =>
    runTool(
      tool,
      { root: listed.root, files, input },
      {
        agent: ctx.self,
        signal,
        progress: (done, of) =>
          ctx.progress(fraction(of === 0 ? 0 : done / of), `${tool.name}: ${done} of ${of}`),
      },
    ),
  );
}

async function check(tools: readonly Tool[], { job, listed, outcomes }: PlanetStep): Promise<AuditAnswer> {
  const { ctx, request } = job;
  const answer = answerOf(tools, listed.notes, outcomes);
  if ('refusal' in answer) throw refused(answer.refusal, { root: request.root });
  ctx.progress(1, 'checks what was found');
  return revised(answer, { root: listed.root, feedback: request.feedback }, ctx);
}
