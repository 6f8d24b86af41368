export { type MemoryOptions, memoryAgent } from './memory/memory-agent.ts';
export {
  Memory,
  memoryAdd,
  memoryDelete,
  memoryExport,
  memoryGet,
  memoryList,
  memorySearch,
  memoryUpdate,
} from './memory/memory-capabilities.ts';
export { MemoryLayer } from './memory/memory-layer.ts';
export { Role } from './role.ts';
export { skillAgents } from './skill-agents.ts';
export { SkillOptions } from './skill-options.ts';
