export {
  ContentBlock,
  PromptDescriptor,
  PromptMessage,
  ResourceContent,
  ResourceDescriptor,
  ResourceTemplateDescriptor,
  Tool,
  ToolAnnotations,
  ToolError,
  ToolInvocation,
} from '../../runtime/protocol/tool.ts';
export { ToolContent } from '../../runtime/protocol/tool.ts';
export { ToolNames } from '../../runtime/protocol/tool-names.ts';
export type {
  CallOptions,
  Completing,
  OfferedPrompt,
  OfferedResource,
  OfferedTemplate,
  ToolChange,
  ToolService,
} from '../../runtime/protocol/tool-service.ts';
export { deserialiseInvocation, serialiseInvocation } from './invocation-log.ts';
export { type ToolExecutor, toolExecutor } from './tool-executor.ts';
export { ToolHost, type ToolHostOptions } from './tool-host.ts';
export type { ToolContext, ToolRegistration } from './hosted-tool.ts';
export { resourceChanged } from './resource-updates.ts';
export type { ToolSystem } from './system-tools.ts';
export { toolsOf } from './tools-of.ts';
