import { invalidOptions } from '../protocol/errors.ts';
import type { AgentOptions } from './agent-options.ts';

/** Throws INVALID_OPTIONS where the actors of `whose` would live on with a state that a throw has left half changed. */
export function requireRestart({ id, onThrow }: Pick<AgentOptions, 'id' | 'onThrow'>, whose: string): void {
  if (onThrow === 'keep') throw invalidOptions('agent.onThrow', onThrow, `'restart' for ${whose}, as ${id}`);
}
