export { acpAgent } from './acp/acp-agent.ts';
export type { AcpAgentOptions } from './acp/acp-agent-options.ts';
export { BACKENDS } from './backends/backends.ts';
export type { CodingBackend, CodingOrder } from './backends/coding-backend.ts';
export {
  CodeChangeRequest,
  CodeChangeResult,
  codeChange,
  CodingLimits,
  CodingPermission,
} from './code-change.ts';
export { CodeReviewRequest, CodeReviewResult, codeReview } from './code-review.ts';
export { CodingEvent, CodingUsage, ToolKind } from './coding-event.ts';
export { commandAgent } from './command-agent.ts';
export type { CommandAgentOptions } from './command-agent-options.ts';
export { programEnv, secretsIn, VariableName } from './program-env.ts';
export type { StreamReader } from './streams/stream-reader.ts';
export { GuardedProcess, type GuardedOrder, type ProcessEnd } from '../../runtime/os/guarded-process.ts';
export {
  isNotedAlive,
  NotedProcess,
  notedProcessIn,
  noteOfThisProcess,
} from '../../runtime/os/noted-process.ts';
export { type KnownProcess, knownProcesses } from '../../runtime/os/proc-table.ts';
export { variableOf } from '../../runtime/os/process-family.ts';
export { identityOf, ProcessIdentity } from '../../runtime/os/process-identity.ts';
