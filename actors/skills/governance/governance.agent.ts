import { optionsIn } from '../module-options.ts';
import { governanceAgent } from './governance-agent.ts';

/** The agent with the options in the address of this module. */
export const governance = governanceAgent(optionsIn(import.meta.url));
