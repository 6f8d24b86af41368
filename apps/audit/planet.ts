import { REPOSITORY_ROOT, type RepositoryRoot, repositoryRoot, revised } from '@orrery/ralph-loop';
import { type AgentDefinition, type Capability, defineAgent, type HandlingContext, refused } from 'orrery';
import type { Planet } from 'orrery/planets';
import { type AnyActorLogic, fromPromise } from 'xstate';
import { answerOf } from './answer-of.ts';
import type { AuditAnswer, AuditRequest, MissionRequest } from './audit-answer.ts';
import { listRepository, type RepositoryFiles } from './list-repository.ts';
import {
  missionPlanetMachine,
  type PlanetJob,
  type PlanetStep,
  planetMachine,
  type ToolStep,
} from './planet.machine.ts';
import { runTool, type ToolOutcome } from './run-tool.ts';
import type { Tool } from './tool.ts';

/** The deadline of an ask without one: longer than any repository takes. */
const HANDLING_TIMEOUT_MS = 3_600_000;

/** The name of the effect that lists the repository, by which a simulation can answer it. */
export const LIST_REPOSITORY = 'list-repository';
/** The name of the effect that runs a tool. */
export const runOf = ({ name }: Pick<Tool, 'name'>): string => `run-tool ${name}`;

const toolsByPlanet = new WeakMap<object, readonly Tool[]>();

/** The tools of a planet; none for a planet that reports on the mission. */
export const toolsOf = (definition: AgentDefinition): readonly Tool[] => toolsByPlanet.get(definition) ?? [];

/** The capability of a planet. Its schema parses `Input` to `Parsed`. */
type Job<Input, Parsed> = Capability<Input, AuditAnswer, Parsed>;

/** Makes a planet that runs `tools`, one after the other, in processes of their own. */
export function planet<Input, Parsed extends AuditRequest>(
  who: Planet,
  job: Job<Input, Parsed>,
  tools: readonly Tool[],
): AgentDefinition {
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  const role = { id: who.id, capability: job.id };
  const machine = planetMachine(role, [...byName.keys()]).provide({
    actors: {
      open: fromPromise(({ input }) => open(input.job)),
      list: fromPromise(({ input }) => list(input)),
      runTool: fromPromise(({ input }) => run(byName.get(input.tool) as Tool, tools.length, input)),
      check: fromPromise(({ input }) => check(tools, input)),
    },
  });
  const definition = planetOf(who, job, machine);
  toolsByPlanet.set(definition, tools);
  return definition;
}

/** A report on the mission. It has no findings of its own. */
export type AboutMission = Pick<AuditAnswer, 'notes' | 'summary'>;

/** Makes a planet that reports on the mission itself. `report` makes its answer from the results of the other tasks. */
export function missionPlanet<Input>(
  who: Planet,
  job: Job<Input, MissionRequest>,
  report: (request: MissionRequest, ctx: HandlingContext) => AboutMission | Promise<AboutMission>,
): AgentDefinition {
  const machine = missionPlanetMachine({ id: who.id, capability: job.id }).provide({
    actors: {
      open: fromPromise(({ input }) => open(input.job)),
      report: fromPromise(async ({ input: { job: asked, root } }) => {
        const request = { ...(asked.request as MissionRequest), root };
        return { findings: [], filesSeen: 0, bytesSeen: 0, ...(await report(request, asked.ctx)) };
      }),
    },
  });
  return planetOf(who, job, machine);
}

const planetOf = <Input, Parsed>(
  who: Planet,
  job: Job<Input, Parsed>,
  machine: AnyActorLogic,
): AgentDefinition =>
  defineAgent({ ...who, delivery: 'retry', handlingTimeoutMs: HANDLING_TIMEOUT_MS }).logic(machine, [
    job as unknown as Capability,
  ]);

/** Resolves to the real path of the repository. */
async function open({ request, ctx }: PlanetJob): Promise<string> {
  const repository = await ctx.effect<RepositoryRoot>(REPOSITORY_ROOT, () => repositoryRoot(request.root));
  if ('refusal' in repository) throw refused(repository.refusal, { root: request.root });
  return repository.root;
}

function list({ job: { ctx }, root }: PlanetStep): Promise<RepositoryFiles> {
  ctx.progress(0, 'lists the files');
  return ctx.effect<RepositoryFiles>(LIST_REPOSITORY, (signal) => listRepository(root, signal));
}

async function run(tool: Tool, tools: number, step: ToolStep): Promise<ToolOutcome> {
  const { root, listed, outcomes } = step;
  const { ctx, request } = step.job;
  const { root: _root, feedback: _feedback, ...input } = request;
  const files = listed.files.map(({ path }) => path).filter(tool.takes);
  if (files.length === 0) return { nothing: tool.nothing };
  const tell = (done: number, of: number, note: string): void =>
    ctx.progress((outcomes.length + (of === 0 ? 0 : done / of)) / tools, `${tool.name}: ${note}`);
  tell(0, files.length, `${files.length} files`);
  return ctx.effect<ToolOutcome>(runOf(tool), (signal) =>
    runTool(
      tool,
      { root, files, input },
      { agent: ctx.self, signal, progress: (done, of) => tell(done, of, `${done} of ${of}`) },
    ),
  );
}

async function check(tools: readonly Tool[], step: PlanetStep): Promise<AuditAnswer> {
  const { job, root, listed, outcomes } = step;
  const { ctx, request } = job;
  const answer = answerOf(tools, listed.notes, outcomes);
  if ('refusal' in answer) throw refused(answer.refusal, { root: request.root });
  ctx.progress(1, 'checks what was found');
  return revised(answer, { root, feedback: request.feedback }, ctx);
}
