import { CpuPool } from '../../agent/offload.ts';
import { importAgent } from '../../agent/import-agent.ts';
import { invalidOptions, isOrreryError, reasonOf, stackOf } from '../../protocol/errors.ts';
import { systemSeams } from '../../protocol/system-seams.ts';
import type { HostFrame } from '../host-frame.ts';
import { ChildAgent } from './child-agent.ts';
import { ChildLine } from './child-line.ts';
import { describeAgent } from './describe-agent.ts';
import { giveUp, type KeptAbilities } from './restrict.ts';

/** Becomes the process of one agent. `kept` says what of its abilities its code may keep. */
export function bootProcess(kept: KeptAbilities): void {
  const line = new ChildLine();
  let agent: ChildAgent | undefined;
  const report = (error: unknown): void => {
    if (agent === undefined)
      line.sayNow({ t: 'unloadable', reason: whyUnloadable(error), stack: stackOf(error) });
    else agent.noteStray(error);
  };
  process.on('uncaughtException', report);
  process.on('unhandledRejection', report);
  const load = async (module: string): Promise<void> => {
    giveUp(kept);
    agent = await loadAgent(module, line, kept);
  };
  line.listen((frame: HostFrame) => {
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

async function loadAgent(module: string, line: ChildLine, kept: KeptAbilities): Promise<ChildAgent> {
  const definition = await importAgent(module);
  const seams = systemSeams();
  const pool = new CpuPool({ seams });
  const agent = new ChildAgent({
    definition,
    line,
    seams,
    offload: async (task, input, signal) => {
      if (!kept.worker)
        throw invalidOptions('permissions.worker', false, 'true, for ctx.offload in a process');
      return pool.run(task, input, signal);
    },
  });
  line.say({ t: 'loaded', description: describeAgent(definition) });
  return agent;
}
