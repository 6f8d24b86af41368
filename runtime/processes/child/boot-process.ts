import { CpuPool } from '../../agent/offload.ts';
import { importAgent } from '../../agent/import-agent.ts';
import { invalidOptions, isOrreryError, reasonOf, stackOf } from '../../protocol/errors.ts';
import { systemSeams } from '../../protocol/system-seams.ts';
import type { HostFrame } from '../host-frame.ts';
import { ChildAgent } from './child-agent.ts';
import { HostConnection } from './host-connection.ts';
import { giveUp, type RemainingAbilities } from './restrict.ts';
import { type AgentDefinition, descriptorOf } from '../../agent/agent-definition.ts';
import type { GivenChildFrame } from '../child-frame.ts';

/** Becomes the process of one agent. `kept` says what of its abilities its code may keep. */
export function bootProcess(kept: RemainingAbilities): void {
  const host = new HostConnection();
  let agent: ChildAgent | undefined;
  const report = (error: unknown): void => {
    if (agent === undefined)
      host.sayNow({ t: 'unloadable', reason: whyUnloadable(error), stack: stackOf(error) });
    else agent.noteStray(error);
  };
  process.on('uncaughtException', report);
  process.on('unhandledRejection', report);
  const load = async (module: string): Promise<void> => {
    giveUp(kept);
    agent = await loadAgent(module, host, kept);
  };
  host.listen((frame: HostFrame) => {
    if (frame.t === 'load') load(frame.module).catch(report);
    else agent?.obey(frame);
  });
}

/** What is to be said of a module that cannot be used; what it was not permitted is named. */
function whyUnloadable(error: unknown): string {
  const said = isOrreryError(error) ? error.details['reason'] : undefined;
  const reason = typeof said === 'string' ? said : reasonOf(error);
  const cause = isOrreryError(error) ? error.cause : error;
  const { code, permission, resource } = (cause ?? {}) as Readonly<Record<string, unknown>>;
  return code === 'ERR_ACCESS_DENIED' ? `${reason} (${permission} ${resource})` : reason;
}

async function loadAgent(
  module: string,
  host: HostConnection,
  kept: RemainingAbilities,
): Promise<ChildAgent> {
  const definition = await importAgent(module);
  const seams = systemSeams();
  const pool = new CpuPool({ seams });
  const agent = new ChildAgent({
    definition,
    host: host,
    seams,
    offload: async (task, input, terms) => {
      if (!kept.worker)
        throw invalidOptions('permissions.worker', false, 'true, for ctx.offload in a process');
      return pool.run(task, input, terms);
    },
  });
  host.say({ t: 'loaded', description: describeAgent(definition) });
  return agent;
}

/** What the host must know of the agent: its options, its capabilities as its card lists them, what it handles and offers else. */
function describeAgent(
  definition: AgentDefinition<unknown>,
): (GivenChildFrame & { t: 'loaded' })['description'] {
  const { options, handlers, envelopeHandlers, content, textFrom, node } = definition;
  return {
    options,
    capabilities: [...handlers.values()].map((entry) => ({
      descriptor: descriptorOf(entry),
      kind: entry.kind,
      carries: entry.capability.carries,
    })),
    types: [...envelopeHandlers.keys()],
    resources: [...content.resources],
    resourceTemplates: [...content.templates],
    prompts: [...content.prompts],
    ...(textFrom && { textFrom: [...textFrom] }),
    ...(node === undefined ? {} : { node }),
  };
}
