import { BroadcastChannel, isMainThread } from 'node:worker_threads';
import { AgentDefinition } from 'orrery';
import type { AnyStateMachine, AnyStateNode } from 'xstate';
import { ENTERED_STATES } from './entered-state.ts';

/** The planet of the module that the query names, as it is; it tells of each state that its machine enters. */
export const watched = await planetOf(new URL(import.meta.url).searchParams.get('module') ?? '');

async function planetOf(module: string): Promise<AgentDefinition> {
  const exported = Object.values((await import(module)) as Record<string, unknown>);
  const definition = exported.find((one) => one instanceof AgentDefinition) as AgentDefinition;
  const channel = new BroadcastChannel(ENTERED_STATES);
  channel.unref();
  const watch = (node: AnyStateNode): void => {
    const entered = { planet: definition.options.id, state: node.path.join('.'), isInWorker: !isMainThread };
    node.entry.unshift(() => channel.postMessage(entered));
    for (const child of Object.values(node.states)) watch(child);
  };
  for (const node of Object.values((definition.actorLogic as AnyStateMachine).states)) watch(node);
  return definition;
}
