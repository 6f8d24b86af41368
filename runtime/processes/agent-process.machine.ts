import { setup } from 'xstate';

/** What becomes of the process of an agent: `child.*` is what it says itself. */
export type AgentProcessEvent =
  | { readonly type: 'child.loaded' }
  | { readonly type: 'child.unloadable' }
  | { readonly type: 'child.ready' }
  | { readonly type: 'child.unready' }
  | { readonly type: 'child.ended' }
  | { readonly type: 'child.left' }
  | { readonly type: 'agent.start' }
  | { readonly type: 'agent.stop' }
  | { readonly type: 'agent.leave' }
  | { readonly type: 'process.end' }
  | { readonly type: 'process.condemn' }
  | { readonly type: 'process.exited' };

/**
 * The life of an agent's process, from the host's side.
 *
 * What the process says is believed only in a state that lists it. A process that is `ending` is listened to until it is
 * gone, for what it did before counts; one that is `condemned`, because it said what no process of ours says, is not.
 */
export const agentProcessMachine = setup({
  types: { events: {} as AgentProcessEvent },
  actions: {
    kill: () => undefined,
  },
}).createMachine({
  id: 'agentProcess',
  initial: 'loading',
  on: {
    'process.end': '.ending',
    'process.condemn': '.condemned',
    'process.exited': '.gone',
  },
  states: {
    loading: {
      on: { 'child.loaded': 'loaded', 'child.unloadable': 'ending' },
    },
    loaded: {
      on: { 'agent.start': 'starting' },
    },
    starting: {
      tags: 'listened',
      on: { 'child.ready': 'running', 'child.unready': 'ending' },
    },
    running: {
      tags: 'listened',
      on: { 'agent.stop': 'stopping', 'agent.leave': 'leaving' },
    },
    leaving: {
      tags: 'listened',
      on: { 'child.left': 'running', 'agent.stop': 'stopping' },
    },
    stopping: {
      tags: 'listened',
      // What it leaves may come after it was no longer waited for.
      on: { 'child.ended': 'ending', 'child.left': 'stopping' },
    },
    ending: {
      tags: 'listened',
      entry: 'kill',
      on: { 'process.end': {} },
    },
    condemned: {
      entry: 'kill',
      on: { 'process.end': {}, 'process.condemn': {} },
    },
    gone: {
      type: 'final',
    },
  },
});
