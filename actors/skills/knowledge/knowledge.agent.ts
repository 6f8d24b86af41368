import { optionsIn } from '../module-options.ts';
import { knowledgeAgent } from './knowledge-agent.ts';

/** The agent with the options in the address of this module. */
export const knowledge = knowledgeAgent(optionsIn(import.meta.url));
