import { optionsIn } from '../module-options.ts';
import { memoryAgent } from './memory-agent.ts';

/** The agent with the options in the address of this module. */
export const memory = memoryAgent(optionsIn(import.meta.url));
