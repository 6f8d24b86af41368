export { EmbeddingOptions } from './embedding/embedding-options.ts';
export { governanceAgent } from './governance/governance-agent.ts';
export {
  governanceDriftCheck,
  governanceDriftList,
  governancePolicyList,
  governancePolicyPut,
  governancePolicyRemove,
  governancePolicyShow,
  governanceSuppress,
  governanceSuppressions,
  governanceUnsuppress,
  governanceValidate,
} from './governance/governance-capabilities.ts';
export { knowledgeAgent } from './knowledge/knowledge-agent.ts';
export {
  knowledgeAdd,
  knowledgeCheck,
  knowledgePromote,
  knowledgeQuery,
  knowledgeRemove,
  knowledgeShow,
  knowledgeStatus,
  knowledgeSync,
} from './knowledge/knowledge-capabilities.ts';
export { KnowledgeOptions } from './knowledge/knowledge-options.ts';
export { memoryAgent } from './memory/memory-agent.ts';
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
export { MemoryOptions } from './memory/memory-options.ts';
export { type ReadOptions, type ReadProject, readProject } from './project/read-project.ts';
export { Role } from './role.ts';
export { SkillTeamOptions, skillAgents } from './skill-agents.ts';
export { SkillOptions } from './skill-options.ts';
